// Composes a child from its parts: descriptors, exit source and killer. The parts depend on the spawner; the order of events is
// the same for all, and is decided here.
import { Observable } from "rxjs";
import type { KillScope, SignalName, StreamName, TerminalSize } from "../../protocol/index.ts";
import type { Child, ChildEvent, ChildStdin, ExitStatus, Leftover, ProcessInspector, SessionProof } from "./child.ts";
import type { ChildIo } from "./io/child-io.ts";
import type { Killer } from "./kill/kill-scope.ts";
import { ChildInspector, type FileSearch } from "./proc/child-inspector.ts";
import { hasProc } from "./proc/proc.ts";

/** Detects the exit of one child and holds its pid. */
export interface ExitSource {
  /** Calls `onExit` once. */
  watch(onExit: (status: ExitStatus) => void): void;
  /** Checks for the exit now: called when a stream ends. */
  check(): void;
  /** Whether the pid still belongs to the child, running or zombie. */
  readonly reserved: boolean;
  /** Whether it does so until `release`. */
  readonly isReserving: boolean;
  /**
   * Releases the pid. If processes may be left in the child's session, returns the proof that identifies them, or `members` if
   * the members at the exit are known instead.
   */
  release(): SessionProof | "members" | undefined;
}

/** A running child. */
export class SpawnedChild implements Child {
  readonly pid: number;
  readonly events$: Observable<ChildEvent>;
  readonly inspector: ProcessInspector | undefined;
  readonly #io: ChildIo;
  readonly #exit: ExitSource;
  readonly #killer: Killer;
  #released = false;

  constructor(pid: number, io: ChildIo, exit: ExitSource, killer: Killer, search: FileSearch) {
    this.pid = pid;
    this.#io = io;
    this.#exit = exit;
    this.#killer = killer;
    if (io.isTraceable && hasProc()) this.inspector = new ChildInspector(pid, io, exit, search);
    this.events$ = new Observable<ChildEvent>((subscriber) => {
      // The streams and the exit.
      let open = io.streams.length + 1;
      const finish = (event: ChildEvent) => {
        open -= 1;
        subscriber.next(event);
        if (open === 0) subscriber.complete();
      };
      io.connect({
        output: (stream, chunk) => {
          killer.onOutput();
          subscriber.next({ type: "output", stream, chunk });
        },
        ended: (stream) => {
          finish({ type: "ended", stream });
          exit.check();
        },
      });
      exit.watch(({ exitCode, signal }) => {
        if (!exit.reserved) killer.rememberSession();
        const wasGivenUp = this.#released;
        io.exited();
        finish({ type: "exited", exitCode, signal });
        // Released before the exit: reap the zombie now.
        if (wasGivenUp) exit.release();
      });
      // Last, since many children have exited by now: see `ChildIo`.
      io.startReading();
    });
  }

  get isPidReserved(): boolean {
    return this.#exit.isReserving;
  }

  get streams(): readonly StreamName[] {
    return this.#io.streams;
  }

  get stdin(): ChildStdin | undefined {
    return this.#io.stdin;
  }

  pause(): void {
    this.#io.pause();
  }

  resume(): void {
    this.#io.resume();
  }

  kill(signal: SignalName, scope: KillScope): void {
    if (!this.#released) this.#killer.kill(signal, scope, this.#exit.reserved);
  }

  hasSurvivors(scope: KillScope): boolean {
    return !this.#released && this.#killer.hasSurvivors(scope, this.#exit.reserved);
  }

  resize(size: TerminalSize): void {
    this.#io.resize(size);
  }

  release(): Leftover | undefined {
    if (this.#released) return undefined;
    this.#released = true;
    this.#io.release();
    const left = this.#exit.release();
    if (left === undefined) return undefined;
    const proof = left === "members" ? undefined : left;
    this.#killer.release(proof);
    return new SessionLeftover(this.pid, this.#killer, proof);
  }
}

/** The processes that an exited child left in its session. */
class SessionLeftover implements Leftover {
  readonly pid: number;
  readonly proof: SessionProof | undefined;
  readonly #killer: Killer;

  constructor(pid: number, killer: Killer, proof: SessionProof | undefined) {
    this.pid = pid;
    this.#killer = killer;
    this.proof = proof;
  }

  kill(signal: SignalName, scope: KillScope): void {
    this.#killer.kill(signal, scope, false);
  }

  hasSurvivors(scope: KillScope): boolean {
    return this.#killer.hasSurvivors(scope, false);
  }
}
