// `execwire serve` as a program of its own, with a runtime directory for each spec file.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { afterAll } from "@jest/globals";
import { cliArgv, type Ran, type RunProgramOptions, runCli } from "./system-run.ts";

/** A running server. */
export interface HostedServer {
  readonly url: string;
  readonly child: ChildProcess & { readonly pid: number };
  /** Everything it has printed so far. */
  readonly printed: { stdout: string; stderr: string };
  /** How it ended. */
  readonly ended: Promise<{ code: number | null; signal: string | null }>;
}

/** A user's environment: a runtime directory, servers in it, and terminals for commands. */
export class Surroundings {
  /** The value of XDG_RUNTIME_DIR; the runtime directory is `execwire` in it. */
  readonly runtimeDir = mkdtempSync(join(tmpdir(), "execwire-spec-"));
  readonly env: NodeJS.ProcessEnv = { ...process.env, XDG_RUNTIME_DIR: this.runtimeDir };
  readonly #servers: HostedServer[] = [];

  /** Path of a file in the runtime directory. */
  file(name: string): string {
    return join(this.runtimeDir, "execwire", name);
  }

  /**
   * Starts a server and waits for its line on stdout; rejects if it exits instead. `before` is a shell command that runs first,
   * such as `ulimit -n 64`, in the process that becomes the server.
   */
  async serve(args: readonly string[] = [], env: NodeJS.ProcessEnv = {}, before = ""): Promise<HostedServer> {
    const program = cliArgv("serve", ...args);
    const argv = before ? ["/bin/sh", "-c", `${before}; exec "$0" "$@"`, ...program] : program;
    const child = spawn(argv[0] as string, argv.slice(1), { env: { ...this.env, ...env } });
    const printed = { stdout: "", stderr: "" };
    child.stdout.setEncoding("utf8").on("data", (piece: string) => {
      printed.stdout += piece;
    });
    child.stderr.setEncoding("utf8").on("data", (piece: string) => {
      printed.stderr += piece;
    });
    child.stdin.on("error", () => undefined);
    const ended = once(child, "close").then(([code, signal]) => ({ code, signal }));
    const over = ended.then(() => Promise.reject(new Error(`serve ended: ${printed.stderr}`)));
    over.catch(() => undefined);
    while (!printed.stdout.includes("\n")) await Promise.race([once(child.stdout, "data"), over]);
    const server = { url: printed.stdout.trim(), child: child as HostedServer["child"], printed, ended };
    this.#servers.push(server);
    return server;
  }

  /** Runs a command in another terminal. */
  cli(args: readonly string[], options: RunProgramOptions = {}): Promise<Ran> {
    return runCli(args, { ...options, env: { ...this.env, ...options.env } });
  }

  /** Ends every server. */
  async end(): Promise<void> {
    for (const { child } of this.#servers) if (child.exitCode === null && child.signalCode === null) child.kill();
    await Promise.all(this.#servers.map((server) => server.ended));
    rmSync(this.runtimeDir, { recursive: true, force: true });
  }
}

/** An environment for one spec file. */
export function makeSurroundings(): Surroundings {
  const surroundings = new Surroundings();
  afterAll(() => surroundings.end());
  return surroundings;
}
