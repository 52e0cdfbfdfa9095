// Spawns with posix_spawn (Linux): real pipes, exact errors, a cost that does not grow with our memory, and a pid that
// stays reserved until we let go of it.
import { closeSync } from "node:fs";
import type { ExecwireError } from "../errors.ts";
import type { Child, ExitStatus, Launch, SessionProof, Spawner, TtyLaunch } from "./child.ts";
import { FileSearch } from "./child-facts.ts";
import { type ChildIo, READ_BYTES } from "./child-io.ts";
import type { Guard } from "./guard.ts";
import { Killer, type Kin } from "./kill-scope.ts";
import type { Libc, SpawnRequest } from "./libc.ts";
import { Marks } from "./marks.ts";
import { Orphans } from "./orphans.ts";
import { PipeIo } from "./pipe-io.ts";
import { ProcTable } from "./proc-table.ts";
import { Reaper } from "./reaper.ts";
import { explainFailure } from "./spawn-error.ts";
import { type ExitSource, SpawnedChild } from "./spawned-child.ts";
import { openSlave, TtyIo } from "./tty-io.ts";
import { lineModes } from "./tty-line.ts";
import { Turnstile } from "./turnstile.ts";

/** Two more than Node has threads for these calls, so that none is idle; what waits longer inherits the mark of a later child. */
const SPAWNS_AT_ONCE = 6;

const GROWN_PIPE_BYTES = 256 * 1024;
/** An unprivileged user has 16,384 pipe pages in all, after which every new pipe of that user shrinks: take a quarter. */
const GROWN_PIPES = 64;
/** Of these, for children of which nothing is known yet: however many of them stay and are quiet, busy ones find the rest. */
const EARLY_PIPES = 32;

/** The others have flags and characters in other places. */
const HAS_GENERIC_TERMIOS = ["x64", "arm64", "arm", "ia32", "riscv64", "loong64"].includes(process.arch);

/** The two sides of a child's descriptors: ours, and the child's, which are to be closed here in any case. */
interface Plumbing {
  readonly io: ChildIo;
  readonly request: Pick<SpawnRequest, "stdin" | "stdout" | "stderr">;
  readonly theirs: readonly number[];
}

/** Spawns children of this program. */
export class PosixSpawner implements Spawner {
  readonly #libc: Libc;
  readonly #reaper: Reaper;
  readonly #marks: Marks;
  readonly #kin: Kin;
  readonly #orphans: Orphans | undefined;
  readonly #table = new ProcTable();
  readonly #search = new FileSearch();
  readonly #turnstile = new Turnstile(SPAWNS_AT_ONCE);
  readonly #buffer = new Uint8Array(READ_BYTES);
  #grownPipes = 0;

  constructor(libc: Libc, { subreaper, guard }: { readonly subreaper: boolean; readonly guard?: Guard | undefined }) {
    this.#libc = libc;
    this.#reaper = new Reaper(libc);
    // PID 1 gets orphans whether it wants them or not.
    const isSubreaper = subreaper || process.pid === 1;
    // PID 1 was not asked whether it starts children of its own.
    this.#marks = new Marks(libc, subreaper ? "none" : "any", guard);
    if (isSubreaper) this.#orphans = new Orphans(libc, this.#reaper, guard);
    this.#kin = { marks: this.#marks, libc };
  }

  spawn(launch: Launch): Promise<Child> {
    return this.#turnstile.pass(() => this.#spawn(launch));
  }

  finishKills(): void {
    this.#table.finishRounds();
  }

  close(): void {
    this.#orphans?.close();
    this.#reaper.close();
  }

  async #spawn(launch: Launch): Promise<Child> {
    const { io, request, theirs } = await this.#plumb(launch);
    const env = Object.entries(launch.env).map(([name, value]) => `${name}=${value}`);
    const birth = this.#marks.expect();
    try {
      const { file, argv, cwd, inheritFds } = launch;
      const pid = await this.#libc.spawn({ file, argv, env, cwd, inheritFds, ...request });
      this.#marks.born(birth, pid);
      const killer = new Killer(pid, io, this.#table, this.#kin);
      return new SpawnedChild(pid, io, new ReapedExit(pid, this.#reaper, this.#kin), killer, this.#search);
    } catch (error) {
      this.#marks.born(birth);
      io.release();
      throw await this.#explain(launch, error);
    } finally {
      for (const fd of theirs) closeSync(fd);
    }
  }

  async #plumb(launch: Launch): Promise<Plumbing> {
    try {
      return launch.tty ? this.#plumbTty(launch.tty) : this.#plumbPipes(launch);
    } catch (error) {
      throw await this.#explain(launch, error);
    }
  }

  #plumbPipes({ pipeStdin, merge }: Launch): Plumbing {
    const made: number[] = [];
    const pipe = () => {
      const ends = this.#libc.pipe();
      made.push(...ends);
      return ends;
    };
    try {
      const [stdout, childStdout] = pipe();
      const [stderr, childStderr] = merge ? [undefined, childStdout] : pipe();
      const [childStdin, stdin] = pipeStdin ? pipe() : ["/dev/null" as const, undefined];
      const theirs = new Set([childStdout, childStderr, ...(typeof childStdin === "number" ? [childStdin] : [])]);
      return {
        io: new PipeIo({ stdin, stdout, stderr }, this.#buffer, this.#pipeCalls),
        request: { stdin: childStdin, stdout: childStdout, stderr: childStderr },
        theirs: [...theirs],
      };
    } catch (error) {
      for (const fd of made) closeSync(fd);
      throw error;
    }
  }

  #plumbTty(tty: TtyLaunch): Plumbing {
    const { master, path } = this.#libc.openTerminal();
    const made = [master];
    try {
      const slave = openSlave(path);
      made.push(slave);
      this.#libc.setSize(master, tty);
      this.#libc.presetTerminal(slave, tty);
      return {
        io: new TtyIo(master, slave, path, this.#buffer, (fd, size) => this.#libc.setSize(fd, size), this.#modes),
        // Opened anew in the child, as its descriptor 0: that makes it the controlling terminal of the new session.
        request: { stdin: path, stdout: 0, stderr: 0 },
        theirs: [],
      };
    } catch (error) {
      for (const fd of made) closeSync(fd);
      throw error;
    }
  }

  /** Undefined where they cannot be known. */
  readonly #modes = HAS_GENERIC_TERMIOS ? (fd: number) => lineModes(this.#libc.termios(fd)) : undefined;

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

/** The exit of a child of ours, whose pid stays reserved by its zombie. */
class ReapedExit implements ExitSource {
  readonly isReserving = true;
  readonly #pid: number;
  readonly #reaper: Reaper;
  readonly #kin: Kin;

  constructor(pid: number, reaper: Reaper, kin: Kin) {
    this.#pid = pid;
    this.#reaper = reaper;
    this.#kin = kin;
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
    const { libc, marks } = this.#kin;
    const proof = { marks: marks.forget(this.#pid), reservedUntil: libc.ticks() };
    const isReaped = this.#reaper.reap(this.#pid);
    // Mostly nothing is left, which is known without a look at all processes.
    return isReaped && libc.isPidInUse(this.#pid) ? proof : undefined;
  }
}
