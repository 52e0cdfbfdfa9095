// `execwire run`: one command, passed through. Nothing it prints is lost, however slow our own reader is; nothing it
// started through its process group outlives it when we are told to end.
import { resolve } from "node:path";
import type { ExitedEvent } from "../../protocol/index.ts";
import { createSupervisor } from "../local/supervisor.ts";
import type { Process } from "../process/process.ts";
import type { SpawnerName } from "../spawn/load-spawner.ts";
import { EXIT, exitCodeOf, exitCodeOfError } from "./exit-code.ts";
import { forwardSignals } from "./forward-signals.ts";
import { OutputError, writeAll } from "./output.ts";
import { connectTerminal, forwardStdin, terminalSize } from "./terminal.ts";

/** Options of `run`, as the command line parses them. */
export interface RunOptions {
  readonly tty?: boolean;
  readonly interactive?: boolean;
  readonly timeout?: number;
  readonly grace?: number;
  readonly env?: Record<string, string>;
  readonly cwd?: string;
  readonly spawner?: SpawnerName;
}

/** Runs a command and returns the exit code to end with. */
export async function run(command: readonly string[], options: RunOptions): Promise<number> {
  const supervisor = createSupervisor({
    subreaper: true,
    ...(options.spawner && { spawner: options.spawner }),
    ...(options.grace !== undefined && { limits: { graceMs: options.grace * 1000 } }),
  });
  const interactive = options.interactive || (options.tty && process.stdin.isTTY) || false;
  try {
    const child = await supervisor.start({
      argv: command,
      cwd: resolve(options.cwd ?? "."),
      env: options.env ?? {},
      envPolicy: { inherit: "all", ignoreDefaultExcludes: true },
      pipeStdin: interactive,
      ...(options.tty && { tty: terminalSize(process.stdout) }),
      ...(options.timeout && { timeoutMs: Math.ceil(options.timeout * 1000) }),
    });
    return await passThrough(child, { tty: options.tty ?? false, interactive });
  } catch (error) {
    if (error instanceof OutputError) {
      // Like any program whose reader left: no word, and the code of a death by SIGPIPE.
      if (error.code === "EPIPE") return exitCodeOf({ signal: "SIGPIPE" } as ExitedEvent);
      return fail(error.message, EXIT.failure);
    }
    return fail(error instanceof Error ? error.message : String(error), exitCodeOfError(error));
  } finally {
    await supervisor.close();
  }
}

async function passThrough(
  child: Process,
  { tty, interactive }: { tty: boolean; interactive: boolean },
): Promise<number> {
  const undo = [forwardSignals(child)];
  if (tty) undo.push(connectTerminal(child, interactive));
  if (interactive) undo.push(forwardStdin(child));
  try {
    const exit = await writeAll(child);
    return exit ? exitCodeOf(exit) : EXIT.failure;
  } finally {
    for (const step of undo) step();
  }
}

function fail(message: string, code: number): number {
  process.stderr.write(`execwire: ${message}\n`);
  return code;
}
