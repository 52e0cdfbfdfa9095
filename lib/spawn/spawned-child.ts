// A child put together from its parts: descriptors, exit, and whom to kill. The parts differ by how it was spawned; the
// order of events does not, and is decided here.
import { Observable } from "rxjs";
import type { KillScope, SignalName, StreamName, TerminalSize } from "../../protocol/index.ts";
import type { Child, ChildEvent, ChildStdin, ExitStatus, Facts, Leftover, SessionProof } from "./child.ts";
import { ChildFacts, type FileSearch } from "./child-facts.ts";
import type { ChildIo } from "./child-io.ts";
import type { Killer } from "./kill-scope.ts";
import { hasProc } from "./proc.ts";

/** How the exit of one child becomes known. */
export interface ExitSource {
  /** Calls back once. */
  watch(onExit: (status: ExitStatus) => void): void;
  /** Looks at once, on the hint that a stream ended. */
  check(): void;
  /** Whether the pid is still the child's own, dead or alive. */
  readonly reserved: boolean;
  /** Whether it stays so until it is given up. */
  readonly isReserving: boolean;
  /**
   * Gives up the pid. When there may be processes left in the child's session it returns what proves that one belongs to it;
   * `members` where those are known that were in it at the exit.
   */
  release(): SessionProof | "members" | undefined;
}

/** A running child. */
export class SpawnedChild implements Child {
  readonly pid: number;
  readonly events$: Observable<ChildEvent>;
  readonly facts: Facts | undefined;
  readonly #io: ChildIo;
  readonly #exit: ExitSource;
  readonly #killer: Killer;
  #released = false;

  constructor(pid: number, io: ChildIo, exit: ExitSource, killer: Killer, search: FileSearch) {
    this.pid = pid;
    this.#io = io;
    this.#exit = exit;
    this.#killer = killer;
    if (io.isTraceable && hasProc()) this.facts = new ChildFacts(pid, io, exit, search);
    this.events$ = new Observable<ChildEvent>((subscriber) => {
      // The exit is one more thing to wait for beside the streams.
      let open = io.streams.length + 1;
      const finish = (event: ChildEvent) => {
        open -= 1;
        subscriber.next(event);
        if (open === 0) subscriber.complete();
      };
      io.start({
        output: (stream, chunk) => {
          killer.heard();
          subscriber.next({ type: "output", stream, chunk });
        },
        ended: (stream) => {
          finish({ type: "ended", stream });
          exit.check();
        },
      });
      exit.watch(({ exitCode, signal }) => {
        if (!exit.reserved) killer.remember();
        const wasGivenUp = this.#released;
        io.exited();
        finish({ type: "exited", exitCode, signal });
        // Nobody else will end its zombie.
        if (wasGivenUp) exit.release();
      });
      // Last, since many a child is gone by the time that it is known.
      io.poll();
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

/** What a child that ended has left in its session. */
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
