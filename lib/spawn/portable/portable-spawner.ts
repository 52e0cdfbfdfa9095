// Spawns with child_process and node-pty, for systems without posix_spawn through koffi (macOS, Windows, a Linux without the
// prebuilt library). Not tested outside Linux. Unsupported options are refused. Known differences: pipes are socketpairs
// (`> /dev/stderr` fails in the child), a spawn's cost grows with our memory, and a pid is reusable as soon as its child exits.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { ExecwireError } from "../../errors.ts";
import type { Child, Launch, Spawner } from "../child.ts";
import { probeDescriptors } from "../guard/probe-descriptors.ts";
import { READ_BYTES } from "../io/child-io.ts";
import { openSlave, TtyIo } from "../io/tty-io.ts";
import { Killer } from "../kill/kill-scope.ts";
import { FileSearch } from "../proc/child-inspector.ts";
import { ProcTable } from "../proc/proc-table.ts";
import { hostSignalName } from "../signals.ts";
import { checkLaunch, explainFailure, spawnFailed } from "../spawn-error.ts";
import { type ExitSource, SpawnedChild } from "../spawned-child.ts";
import { loadNativePty, type NativePty } from "./native-pty.ts";
import { SocketIo } from "./socket-io.ts";

/** Spawns children with child_process and node-pty. */
export class PortableSpawner implements Spawner {
  readonly #table = new ProcTable();
  readonly #search = new FileSearch();
  readonly #buffer = new Uint8Array(READ_BYTES);
  #native: NativePty | undefined;

  async spawn(launch: Launch): Promise<Child> {
    // Node and node-pty report a missing directory as a missing program, or not at all, so check first.
    const problem = process.platform === "win32" ? undefined : await checkLaunch(launch);
    if (problem) throw problem;
    return launch.tty ? this.#spawnTty(launch) : this.#spawnPipes(launch);
  }

  finishKills(): void {
    this.#table.finishRounds();
  }

  close(): void {}

  async #spawnPipes(launch: Launch): Promise<Child> {
    if (launch.inheritFds.length > 0) throw unsupported("inheritFds");
    const { file, argv } = launch.merge ? mergeStreams(launch) : launch;
    const stdio: StdioOptions = [launch.pipeStdin ? "pipe" : "ignore", "pipe", launch.merge ? "ignore" : "pipe"];
    try {
      if (process.platform !== "win32") probeDescriptors();
      // `detached` calls setsid: a new group and session. E2BIG and EAGAIN are thrown, other errors are events.
      const child = spawn(file, argv.slice(1), {
        argv0: argv[0] ?? file,
        cwd: launch.cwd,
        env: launch.env,
        stdio,
        detached: true,
      });
      await once(child, "spawn");
      const exit = watchChild(child);
      const [pid, io] = [child.pid ?? 0, new SocketIo(child)];
      return new SpawnedChild(pid, io, exit, new Killer(pid, io, this.#table), this.#search);
    } catch (error) {
      throw await explainFailure(launch, error as NodeJS.ErrnoException);
    }
  }

  async #spawnTty(launch: Launch): Promise<Child> {
    if (process.platform === "win32") throw unsupported("tty on Windows");
    if (launch.argv[0] !== launch.file && launch.argv[0] !== launch.file.split("/").at(-1))
      throw unsupported("arg0 on a tty");
    if (launch.inheritFds.length > 0) throw unsupported("inheritFds");
    this.#native ??= await loadNativePty();
    const native = this.#native;
    const { rows, cols } = launch.tty ?? { rows: 24, cols: 80 };
    const { file, argv } = presetTerminal(launch);
    const env = Object.entries(launch.env).map(([name, value]) => `${name}=${value}`);
    const exit = new PtyExit();
    try {
      const { pid, fd, pty } = native.fork(file, argv.slice(1), env, launch.cwd, cols, rows, exit.onExit);
      const slave = openSlaveOrClose(pty, fd);
      const io = new TtyIo(fd, slave, pty, this.#buffer, (master, size) => native.resize(master, size.cols, size.rows));
      return new SpawnedChild(pid, io, exit, new Killer(pid, io, this.#table), this.#search);
    } catch (error) {
      // node-pty only reports that the fork failed; the cause is a lack of descriptors or processes.
      throw spawnFailed(
        "resource-exhausted",
        `cannot open a terminal for ${launch.file}: ${String(error)}`,
        launch.file,
        error,
      );
    }
  }
}

/** The exit of a child that libuv reaps: once the exit is known, the pid may be reused. */
function watchChild(child: ChildProcess): ExitSource {
  return {
    isReserving: false,
    watch(onExit) {
      child.once("exit", (exitCode, signal) => onExit({ exitCode, signal }));
    },
    check() {},
    get reserved() {
      return child.exitCode === null && child.signalCode === null;
    },
    release() {
      return this.reserved ? undefined : "members";
    },
  };
}

/** The same for node-pty, whose callback may come before `watch`. */
class PtyExit implements ExitSource {
  readonly isReserving = false;
  #status: { readonly exitCode: number | null; readonly signal: string | null } | undefined;
  #watcher: Parameters<ExitSource["watch"]>[0] | undefined;

  readonly onExit = (code: number, signal: number): void => {
    // node-pty reports a death by signal with exit code 0: look at the signal first.
    this.#status = signal ? { exitCode: null, signal: hostSignalName(signal) } : { exitCode: code, signal: null };
    this.#watcher?.(this.#status);
  };

  get reserved(): boolean {
    return this.#status === undefined;
  }

  watch(onExit: Parameters<ExitSource["watch"]>[0]): void {
    this.#watcher = onExit;
    if (this.#status) onExit(this.#status);
  }

  check(): void {}

  release(): "members" | undefined {
    return this.reserved ? undefined : "members";
  }
}

/** Puts stdout and stderr on one pipe, by a shell, since child_process cannot. */
function mergeStreams(launch: Launch): Pick<Launch, "file" | "argv"> {
  if (process.platform === "win32") throw unsupported("merge on Windows");
  return throughShell(launch, 'exec "$0" "$@" 2>&1');
}

/** Sets terminal modes before the program runs, by stty in the child, since node-pty has no such option. */
function presetTerminal(launch: Launch): Pick<Launch, "file" | "argv"> {
  const { tty } = launch;
  const modes = [...(tty?.raw ? ["raw"] : []), ...(tty?.raw || tty?.echo === false ? ["-echo"] : [])];
  if (modes.length === 0) return launch;
  return throughShell(launch, `stty ${modes.join(" ")} && exec "$0" "$@"`);
}

/** Runs a shell script before the program; the variables that shells add to the environment are unset again. */
function throughShell({ file, argv, env }: Launch, script: string): Pick<Launch, "file" | "argv"> {
  const added = ["PWD", "OLDPWD", "SHLVL", "_"].filter((name) => !(name in env));
  const clean = added.length > 0 ? `unset ${added.join(" ")}; ` : "";
  return { file: "/bin/sh", argv: ["sh", "-c", clean + script, file, ...argv.slice(1)] };
}

function openSlaveOrClose(pty: string, master: number): number {
  try {
    return openSlave(pty);
  } catch (error) {
    // Closing the master sends SIGHUP to the child, which ends it.
    closeSync(master);
    throw error;
  }
}

function unsupported(what: string): ExecwireError {
  return new ExecwireError("UNSUPPORTED", `${what} is not available with the portable spawner`, { data: { what } });
}
