// Spawns with child_process and node-pty, for systems without posix_spawn through koffi (macOS, Windows, a Linux without the
// prebuilt library). Not tested outside Linux. Unsupported options are refused. Known differences: pipes are socketpairs
// (`> /dev/stderr` fails in the child), a spawn's cost grows with our memory, a pid is reusable as soon as its child exits, and
// no string may have bytes that are not UTF-8. Of a variable that is set twice, the child gets the first.
import { type ChildProcess, type StdioOptions, spawn } from "node:child_process";
import { once } from "node:events";
import { closeSync } from "node:fs";
import { isIllFormed, toWellFormed } from "../../../protocol/index.ts";
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
import { signalsForChildren } from "../start-state.ts";
import { loadNativePty, type NativePty } from "./native-pty.ts";
import { SocketIo } from "./socket-io.ts";

/** Lowers our limit of open files for children with these descriptors; the returned function undoes it. */
type LowerFileLimit = (inheritFds: readonly number[]) => () => void;

/** Spawns children with child_process and node-pty. */
export class PortableSpawner implements Spawner {
  readonly #table = new ProcTable();
  readonly #search = new FileSearch();
  readonly #buffer = new Uint8Array(READ_BYTES);
  #native: NativePty | undefined;
  #lowerFileLimit: LowerFileLimit | undefined;

  async spawn(launch: Launch): Promise<Child> {
    // Node and node-pty report a missing directory as a missing program, or not at all, so check first.
    refuseBytes(launch);
    const problem = process.platform === "win32" ? undefined : await checkLaunch(launch);
    if (problem) throw problem;
    return launch.tty ? this.#spawnTty(launch) : this.#spawnPipes(launch);
  }

  finishKills(): void {
    this.#table.finishRounds();
  }

  close(): void {}

  /** Starts a child with the soft limit of open files that we had at our start, where the limit can be set. */
  async #withFileLimit<T>({ inheritFds }: Launch, start: () => T): Promise<T> {
    this.#lowerFileLimit ??= await loadFileLimit();
    const restore = this.#lowerFileLimit(inheritFds);
    try {
      return start();
    } finally {
      restore();
    }
  }

  async #spawnPipes(launch: Launch): Promise<Child> {
    const { file, argv } = launch.merge ? mergeStreams(launch) : ignoringSignals(launch);
    const stdio: StdioOptions = [launch.pipeStdin ? "pipe" : "ignore", "pipe", launch.merge ? "ignore" : "pipe"];
    for (const fd of launch.inheritFds) stdio[fd] = fd;
    for (let fd = 3; fd < stdio.length; fd += 1) stdio[fd] ??= "ignore";
    try {
      if (process.platform !== "win32") probeDescriptors();
      // `detached` calls setsid: a new group and session. E2BIG and EAGAIN are thrown, other errors are events.
      const options = { argv0: argv[0] ?? file, ...(launch.cwd !== undefined && { cwd: launch.cwd }), stdio };
      // The listener is added in the turn of the spawn, since errors are events.
      const spawned = await this.#withFileLimit(launch, () => {
        const child = spawn(file, argv.slice(1), { ...options, env: variables(launch), detached: true });
        return { child, running: once(child, "spawn") };
      });
      const child: ChildProcess = spawned.child;
      await spawned.running;
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
    this.#native ??= await loadNativePty();
    const native = this.#native;
    const { rows, cols } = launch.tty ?? { rows: 24, cols: 80 };
    if (launch.inheritFds.length > 0) throw unsupported("inheritFds");
    const { file, argv } = presetTerminal(launch);
    const env = Object.entries(variables(launch)).map(([name, value]) => `${name}=${value}`);
    const exit = new PtyExit();
    try {
      const { pid, fd, pty } = await this.#withFileLimit(launch, () =>
        native.fork(file, argv.slice(1), env, launch.cwd ?? "", cols, rows, exit.onExit),
      );
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

/** The environment as an object. */
function variables({ env }: Pick<Launch, "env">): Record<string, string> {
  const values = new Map<string, string>();
  for (const entry of env) {
    const equals = entry.indexOf("=");
    const name = entry.slice(0, equals);
    if (equals > 0 && !values.has(name) && !(isIllFormed(entry) && isDirectory(entry)))
      values.set(name, entry.slice(equals + 1));
  }
  return Object.fromEntries(values);
}

/** A shell finds out its directory without them. */
function isDirectory(entry: string): boolean {
  return /^(OLD)?PWD=/.test(entry);
}

/** Node would replace bytes that are not UTF-8. */
function refuseBytes({ file, argv, env, cwd = "" }: Launch): void {
  const [variable] = env.find((entry) => isIllFormed(entry) && !isDirectory(entry))?.split("=") ?? [];
  const index = argv.findIndex(isIllFormed);
  const what =
    index >= 0
      ? `argument ${index}`
      : variable !== undefined
        ? `variable ${toWellFormed(variable)}`
        : isIllFormed(cwd)
          ? "the working directory"
          : isIllFormed(file)
            ? "the path of the program"
            : undefined;
  if (what) throw unsupported(`${what} with bytes that are not UTF-8`);
}

/** Lowers the limit of open files with the C library, if it can be called. */
async function loadFileLimit(): Promise<LowerFileLimit> {
  try {
    if (process.platform !== "linux") return () => () => undefined;
    const [{ Libc }, { lowerFileLimit }] = await Promise.all([
      import("../posix/libc.ts"),
      import("../posix/file-limit.ts"),
    ]);
    const libc = new Libc();
    return (inheritFds) => lowerFileLimit(libc, inheritFds);
  } catch {
    return () => () => undefined;
  }
}

/** Node resets the signals that we ignore, so a shell ignores them again. */
function ignoringSignals(launch: Launch): Pick<Launch, "file" | "argv"> {
  return signalsForChildren().ignored.length > 0 ? throughShell(launch, 'exec "$0" "$@"') : launch;
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
  if (modes.length === 0) return ignoringSignals(launch);
  return throughShell(launch, `stty ${modes.join(" ")} && exec "$0" "$@"`);
}

/** Runs a shell script before the program; the variables that shells add to the environment are unset again. */
function throughShell({ file, argv, env }: Launch, script: string): Pick<Launch, "file" | "argv"> {
  const added = ["PWD", "OLDPWD", "SHLVL", "_"].filter((name) => !env.some((entry) => entry.startsWith(`${name}=`)));
  const { ignored } = signalsForChildren();
  const ignore = ignored.length > 0 ? `trap '' ${ignored.join(" ")}; ` : "";
  const clean = added.length > 0 ? `unset ${added.join(" ")}; ` : "";
  return { file: "/bin/sh", argv: ["sh", "-c", clean + ignore + script, file, ...argv.slice(1)] };
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
