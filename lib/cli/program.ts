// The command line program. Each command is a file in `commands/` that is loaded only when that command runs.
import { readFileSync } from "node:fs";
import { Command, CommanderError } from "commander";
import { exactArguments } from "../spawn/start-state.ts";
import { EXIT } from "./exit-code.ts";
import { leaveTerminal } from "./leave-terminal.ts";
import { endWithoutReader } from "./output.ts";
import { report } from "./report.ts";
import { printable } from "./table.ts";

/** A file in `commands/`. */
interface CommandFile {
  define(command: Command): void;
}

const COMMANDS: Record<string, readonly [description: string, load: () => Promise<CommandFile>]> = {
  run: ["Run a command; pass through its output and exit code, and your signals.", () => import("./commands/run.ts")],
  serve: ["Run processes for other terminals and programs.", () => import("./commands/serve.ts")],
  ps: ["List the processes of a server.", () => import("./commands/ps.ts")],
  attach: ["Attach to a process: its past output, live output, and your input.", () => import("./commands/attach.ts")],
  logs: ["Print the output of a process.", () => import("./commands/logs.ts")],
  write: ["Write to a process's stdin.", () => import("./commands/write.ts")],
  signal: ["Send a signal to a process.", () => import("./commands/signal.ts")],
  stop: ["End a process: SIGTERM, then SIGKILL.", () => import("./commands/stop.ts")],
  wait: ["Wait for a process and exit with its exit code.", () => import("./commands/wait.ts")],
  doctor: ["Say what works on this machine, and what would mend the rest.", () => import("./commands/doctor.ts")],
  mcp: ["Run commands for an AI agent, as a Model Context Protocol server.", () => import("./commands/mcp.ts")],
};

const HELP = `
Try:
  execwire run -- sh -c 'echo hello; exit 3'

Two terminals:
  1$ execwire serve                                 prints its URL and keeps running
  2$ execwire run -d -t --id shell -- bash          start a shell that outlives this terminal
  2$ execwire attach shell                          use the shell; Ctrl-P Ctrl-Q leaves it running
  2$ execwire ps                                    list the processes
  2$ execwire logs -f shell                         print its output so far, and follow it
  2$ execwire stop shell                            end it

Exit codes of execwire itself: 2 wrong usage, 66 the server has no such process, 69 no server, or the
connection is lost for good, 77 the token is refused, 125 anything else. run, attach and wait exit
with the code of the command.

Each command has its own help with examples: execwire run --help`;

const { version } = JSON.parse(readFileSync(new URL("../../../package.json", import.meta.url), "utf8")) as {
  version: string;
};

const program = new Command("execwire")
  .description("Run and supervise processes: no byte lost, no process left behind.")
  .version(version)
  .enablePositionalOptions()
  .showHelpAfterError("(run execwire --help for a list of commands)")
  .addHelpText("after", HELP)
  // Usage errors quote arguments, which may come from other programs. Newlines stay: commander puts suggestions on a second line.
  .configureOutput({ outputError: (text, write) => write(text.split("\n").map(printable).join("\n")) })
  .exitOverride();

const [first, second] = process.argv.slice(2);
const requested = first === "help" ? second : first;
for (const [name, [description, load]] of Object.entries(COMMANDS)) {
  const command = program.command(name).description(description);
  if (name === requested) (await load()).define(command);
}

await program.parseAsync(exactArguments(), { from: "user" }).catch((error: unknown) => {
  if (error instanceof CommanderError) process.exitCode = error.exitCode === 0 ? 0 : EXIT.usage;
  else process.exitCode = report(error);
});
leaveTerminal();
endWithoutReader();
