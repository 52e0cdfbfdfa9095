// Spawns with posix_spawn (Linux): real pipes, exact errors, a cost that does not grow with our memory, and pids that stay
// reserved until we release them.
import { closeSync } from "node:fs";
import type { ExecwireError } from "../../errors.ts";
import type { Child, ExitStatus, Launch, SandboxCalls, SessionProof, Spawner, TtyLaunch } from "../child.ts";
import type { Guard } from "../guard/guard.ts";
import { type ChildIo, READ_BYTES } from "../io/child-io.ts";
import { PipeIo } from "../io/pipe-io.ts";
import { openSlave, TtyIo } from "../io/tty-io.ts";
import { Killer, type PosixContext } from "../kill/kill-scope.ts";
import { Marks } from "../kill/marks.ts";
import { FileSearch } from "../proc/child-inspector.ts";
import { ProcTable } from "../proc/proc-table.ts";
import { explainFailure } from "../spawn-error.ts";
import { type ExitSource, SpawnedChild } from "../spawned-child.ts";
import { lowerFileLimit } from "./file-limit.ts";
import type { Libc, SpawnRequest } from "./libc.ts";
import { Orphans } from "./orphans.ts";
import { Reaper } from "./reaper.ts";
import { Semaphore } from "./semaphore.ts";

/** Two more than libuv has threads, so that none is idle. More would wait in its queue and inherit the marks of later spawns. */
const SPAWNS_AT_ONCE = 6;

const GROWN_PIPE_BYTES = 256 * 1024;
/** A quarter of the 16,384 pipe pages of an unprivileged user; beyond those, the kernel shrinks every new pipe of that user. */
const GROWN_PIPES = 64;
/** How many of these may be enlarged before use. The rest is for busy pipes, however many quiet children there are. */
const EARLY_PIPES = 32;

/** Other architectures lay out struct termios differently. */
const HAS_GENERIC_TERMIOS = ["x64", "arm64", "arm", "ia32", "riscv64", "loong64"].includes(process.arch);

/** Both sides of a child's descriptors: ours, and the child's side, to be closed here after the spawn in any case. */
interface StdioSetup {
  readonly io: ChildIo;
  readonly request: Pick<SpawnRequest, "stdin" | "stdout" | "stderr">;
  readonly childFds: readonly number[];
}

/** Spawns children with posix_spawn. */
export class PosixSpawner implements Spawner {
  readonly #libc: Libc;
  readonly #reaper: Reaper;
  readonly #marks: Marks;
  readonly #posix: PosixContext;
  readonly #orphans: Orphans | undefined;
  readonly #table = new ProcTable();
  readonly #search = new FileSearch();
  readonly #spawnSlots = new Semaphore(SPAWNS_AT_ONCE);
  readonly #buffer = new Uint8Array(READ_BYTES);
  #grownPipes = 0;

  constructor(libc: Libc, { subreaper, guard }: { readonly subreaper: boolean; readonly guard?: Guard | undefined }) {
    this.#libc = libc;
    this.#reaper = new Reaper(libc);
    // PID 1 adopts orphans in any case.
    const isSubreaper = subreaper || process.pid === 1;
    // Not `isSubreaper`: PID 1 may also start children by other means.
    this.#marks = new Marks(libc, subreaper ? "none" : "any", guard);
    if (isSubreaper) this.#orphans = new Orphans(libc, this.#reaper, guard);
    this.#posix = { marks: this.#marks, libc };
  }

  get calls(): SandboxCalls {
    return this.#libc;
  }

  spawn(launch: Launch): Promise<Child> {
    return this.#spawnSlots.run(() => this.#spawn(launch));
  }

  startHelper<T>(start: () => T): T {
    return this.#marks.withoutMark(start);
  }

  finishKills(): void {
    this.#table.finishRounds();
  }

  close(): void {
    this.#orphans?.close();
    this.#reaper.close();
  }

  async #spawn(launch: Launch): Promise<Child> {
    const { io, request, childFds } = await this.#setUpStdio(launch);
    const pending = this.#marks.beginSpawn();
    const restoreLimit = lowerFileLimit(this.#libc, launch.inheritFds);
    try {
      const { file, argv, env, cwd, inheritFds, placedFds } = launch;
      const pid = await this.#libc.spawn({ file, argv, env, cwd, inheritFds, placedFds, ...request });
      this.#marks.endSpawn(pending, pid);
      restoreLimit(pid);
      const killer = new Killer(pid, io, this.#table, this.#posix);
      return new SpawnedChild(pid, io, new ReapedExit(pid, this.#reaper, this.#posix), killer, this.#search);
    } catch (error) {
      this.#marks.endSpawn(pending);
      restoreLimit();
      io.release();
      throw await this.#explain(launch, error);
    } finally {
      for (const fd of childFds) closeSync(fd);
    }
  }

  async #setUpStdio(launch: Launch): Promise<StdioSetup> {
    try {
      return launch.tty ? this.#openTty(launch.tty) : this.#openPipes(launch);
    } catch (error) {
      throw await this.#explain(launch, error);
    }
  }

  #openPipes({ pipeStdin, merge, inheritFds }: Launch): StdioSetup {
    const opened: number[] = [];
    const pipe = () => {
      const ends = this.#libc.pipe();
      opened.push(...ends);
      return ends;
    };
    try {
      const [stdout, childStdout] = pipe();
      const [stderr, childStderr] = merge ? [undefined, childStdout] : pipe();
      const [childStdin, stdin] = pipeStdin ? pipe() : [inheritFds.includes(0) ? 0 : ("/dev/null" as const), undefined];
      const childFds = new Set([childStdout, childStderr, ...(pipeStdin ? [childStdin as number] : [])]);
      return {
        io: new PipeIo({ stdin, stdout, stderr }, this.#buffer, this.#pipeCalls),
        request: { stdin: childStdin, stdout: childStdout, stderr: childStderr },
        childFds: [...childFds],
      };
    } catch (error) {
      for (const fd of opened) closeSync(fd);
      throw error;
    }
  }

  #openTty(tty: TtyLaunch): StdioSetup {
    const { master, path } = this.#libc.openTerminal();
    const opened = [master];
    try {
      const slave = openSlave(path);
      opened.push(slave);
      this.#libc.setSize(master, tty);
      this.#libc.presetTerminal(slave, tty);
      return {
        io: new TtyIo(master, slave, path, this.#buffer, (fd, size) => this.#libc.setSize(fd, size), this.#termios),
        // Opened again in the child, as its descriptor 0: this makes it the controlling terminal of the new session.
        request: { stdin: path, stdout: 0, stderr: 0 },
        childFds: [],
      };
    } catch (error) {
      for (const fd of opened) closeSync(fd);
      throw error;
    }
  }

  /** Undefined if the layout of struct termios is not known. */
  readonly #termios = HAS_GENERIC_TERMIOS ? (fd: number) => this.#libc.termios(fd) : undefined;

  readonly #pipeCalls = {
    unblock: (fd: number): void => this.#libc.unblock(fd),
    growEarly: (fd: number): boolean => this.#grownPipes < EARLY_PIPES && this.#pipeCalls.grow(fd),
    grow: (fd: number): boolean => {
      if (this.#grownPipes >= GROWN_PIPES || !this.#libc.growPipe(fd, GROWN_PIPE_BYTES)) return false;
      this.#grownPipes += 1;
      return true;
    },
    shrink: (): void => {
      this.#grownPipes -= 1;
    },
  };

  #explain(launch: Launch, error: unknown): Promise<ExecwireError> {
    return explainFailure(launch, error as NodeJS.ErrnoException);
  }
}

/** The exit of a child whose zombie keeps its pid reserved. */
class ReapedExit implements ExitSource {
  readonly isReserving = true;
  readonly #pid: number;
  readonly #reaper: Reaper;
  readonly #posix: PosixContext;

  constructor(pid: number, reaper: Reaper, posix: PosixContext) {
    this.#pid = pid;
    this.#reaper = reaper;
    this.#posix = posix;
  }

  get reserved(): boolean {
    return this.#reaper.owns(this.#pid);
  }

  watch(onExit: (status: ExitStatus) => void): void {
    this.#reaper.watch(this.#pid, onExit);
  }

  check(): void {
    this.#reaper.checkOne(this.#pid);
  }

  release(): SessionProof | undefined {
    const { libc, marks } = this.#posix;
    const proof = { marks: marks.forget(this.#pid), reservedUntil: libc.ticks() };
    const isReaped = this.#reaper.reap(this.#pid);
    // Usually nothing is left, which `isPidInUse` shows without a scan of all processes.
    return isReaped && libc.isPidInUse(this.#pid) ? proof : undefined;
  }
}
