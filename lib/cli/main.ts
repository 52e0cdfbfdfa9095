#!/usr/bin/env node
// The command line. Each command loads what it needs when it is called.
import { readFileSync } from "node:fs";
import { Command, CommanderError, InvalidArgumentError, Option } from "commander";
import { EXIT } from "./exit-code.ts";
import type { RunOptions } from "./run.ts";

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const program = new Command("execwire")
  .description("Run and supervise processes: no byte lost, no process left behind.")
  .version(version)
  .enablePositionalOptions()
  .showHelpAfterError("(execwire --help shows what there is)")
  .addHelpText("after", "\nTry:\n  execwire run -- sh -c 'echo hello; exit 3'\n  execwire run --help")
  .exitOverride();

program
  .command("run")
  .description("Run a command and pass its output, its exit code and your signals through.")
  .argument("<command>", "program to run; put -- before it, so that its options stay its own")
  .argument("[args...]", "its arguments")
  .option("-t, --tty", "give it a terminal (raw mode and resize follow yours)")
  .option("-i, --interactive", "pass stdin on (with -t from a terminal, implied)")
  .option("--timeout <seconds>", "end it with everything it started after this time, exit code 124", parseSeconds)
  .option("--grace <seconds>", "time from SIGTERM to SIGKILL when it must end", parseSeconds)
  .option("-e, --env <name=value>", "set a variable; repeat for more", collectVariables, {})
  .option("-C, --cwd <directory>", "run it there")
  .addOption(new Option("--spawner <name>", "how to spawn").choices(["auto", "posix", "portable"]).default("auto"))
  .passThroughOptions()
  .addHelpText("after", RUN_HELP())
  .action(async (command: string, args: string[], options: RunOptions) => {
    const { run } = await import("./run.ts");
    process.exitCode = await run([command, ...args], options);
  });

await program.parseAsync().catch((error: unknown) => {
  if (error instanceof CommanderError) {
    process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
  } else {
    process.stderr.write(`execwire: ${error instanceof Error ? error.message : String(error)}\n`);
    process.exitCode = EXIT.failure;
  }
});

function RUN_HELP(): string {
  return `
Exit code:
  that of the command; 128+n when signal n ended it; 124 timeout; 126 cannot be executed;
  127 not found; 125 execwire itself failed; 2 wrong usage

Examples:
  execwire run -- sh -c 'echo out; echo err >&2; exit 3'    two streams, exit code 3
  execwire run --timeout 10 -- make test                    ended with its children after 10 s
  execwire run -t -- bash                                   an interactive shell
  echo hello | execwire run -i -- cat                       stdin passed on

Signals sent to execwire go to the command and everything in its process group. It stays until the
command has ended and its output was written, however slow the reader is. A job that the command
detached on purpose (setsid, own output) outlives it when the command ends by itself; a timeout, or
three signals to a command that does not end, reach it too.`;
}

function parseSeconds(text: string): number {
  const seconds = Number(text);
  if (text.trim() === "" || !(seconds >= 0) || seconds > 2_000_000) {
    throw new InvalidArgumentError("It must be a number of seconds, such as 10 or 0.5.");
  }
  return seconds;
}

function collectVariables(text: string, variables: Record<string, string>): Record<string, string> {
  const equals = text.indexOf("=");
  if (equals < 1) throw new InvalidArgumentError("It must have the form NAME=VALUE.");
  return { ...variables, [text.slice(0, equals)]: text.slice(equals + 1) };
}
