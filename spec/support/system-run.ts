// Runs a program outside of jest, such as our own command line or a small Node script, and collects its outcome. With
// child_process and a deadline, so that a bug in the code under test cannot hide in the test.
import { type ChildProcess, type SpawnOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";

const root = join(import.meta.dirname, "../..");
/** Files of the built package. */
export const dist = join(root, "dist");

/** The outcome of a program. */
export interface Ran {
  readonly stdout: string;
  readonly stderr: string;
  readonly code: number | null;
  readonly signal: string | null;
}

/** How to run it. */
export interface RunProgramOptions extends SpawnOptions {
  /** Its whole stdin; empty by default. */
  readonly input?: string | Buffer;
  /** Called with the child once it runs. */
  readonly onStart?: (child: ChildProcess) => void;
}

const DEADLINE_MS = 60_000;

/** Runs a program to its end. */
export async function runProgram(argv: readonly string[], options: RunProgramOptions = {}): Promise<Ran> {
  const { input = "", onStart, ...spawnOptions } = options;
  const child = spawn(argv[0] as string, argv.slice(1), { timeout: DEADLINE_MS, ...spawnOptions });
  const output = { stdout: "", stderr: "" };
  child.stdout?.setEncoding("utf8").on("data", (piece: string) => {
    output.stdout += piece;
  });
  child.stderr?.setEncoding("utf8").on("data", (piece: string) => {
    output.stderr += piece;
  });
  child.stdin?.on("error", () => undefined);
  if (onStart) onStart(child);
  else child.stdin?.end(input);
  const [code, signal] = await once(child, "close");
  return { ...output, code, signal };
}

/** argv of our command line. */
export function cliArgv(...args: string[]): string[] {
  return [process.execPath, join(dist, "lib/cli/main.js"), ...args];
}

/** The same as a shell starts it, through the head of its file: what it was started with passes through. */
export function installedArgv(...args: string[]): string[] {
  return [join(dist, "lib/cli/main.js"), ...args];
}

/** Runs our command line. */
export function runCli(args: readonly string[], options: RunProgramOptions = {}): Promise<Ran> {
  return runProgram(cliArgv(...args), options);
}

/** argv of a script in spec/resilience/programs. */
export function scriptArgv(name: string, ...args: string[]): string[] {
  return [process.execPath, join(root, "spec/resilience/programs", `${name}.mjs`), ...args];
}

/** Runs such a script, which prints one line of JSON. */
export async function runScript(name: string, ...args: string[]): Promise<unknown> {
  const ran = await runProgram(scriptArgv(name, ...args));
  if (ran.code !== 0) throw new Error(`${name} ended with ${ran.code ?? ran.signal}: ${ran.stderr}`);
  return JSON.parse(ran.stdout);
}
