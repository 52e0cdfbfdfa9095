// The hold of an actor on its child: from the spawn until the pid is released, and after that on what the child left behind.
// Everything that ends processes goes through here.
import type { Clock } from "../clock.ts";
import type { Child, KillTarget, Leftover, ProcessInspector } from "../spawn/child.ts";
import { discard } from "./discard.ts";
import { HeldStreams } from "./held-streams.ts";
import { Termination, type TerminationRequest } from "./termination.ts";

/** What the hold asks of its actor. */
export interface ChildHoldOptions {
  readonly clock: Clock;
  /** Time until streams are given up that only unrelated processes hold. */
  readonly closeDeadlineMs: number;
  /** Must lead to a call of `proceed` in a later turn. */
  readonly onTermination: () => void;
  /** Must lead to a call of `giveUp` in a later turn. */
  readonly onGiveUp: () => void;
  /** Called once for each child, when its pid is released, with what it left behind. */
  readonly onReleased: (pid: number, leftover: Leftover | undefined) => void;
}

/** What is known of the end of the process: see `ReplayLog`. */
interface End {
  readonly exited: unknown;
  readonly closed: boolean;
}

/** Answers for a child that was released. */
const NOTHING_LEFT: ProcessInspector = { holders: async () => [], activity: async () => ({ state: "exited" }) };

/** The child of one actor. */
export class ChildHold {
  /** Resolves when nothing of the process is held any more: it is closed and its pid released, or it never had a child. */
  readonly released: Promise<void>;
  readonly streams: HeldStreams;
  readonly #options: ChildHoldOptions;
  readonly #termination: Termination;
  /** Set until the child is released. */
  #child: Child | undefined;
  /** Set from then on. */
  #leftover: Leftover | undefined;
  #lastInspector: ProcessInspector | undefined;
  #settle!: () => void;

  constructor(options: ChildHoldOptions) {
    this.#options = options;
    const { clock, closeDeadlineMs, onTermination, onGiveUp } = options;
    this.#termination = new Termination(clock, onTermination);
    this.streams = new HeldStreams(clock, closeDeadlineMs, onGiveUp);
    this.released = new Promise((resolve) => {
      this.#settle = resolve;
    });
  }

  get child(): Child | undefined {
    return this.#child;
  }

  /** The reason of the first termination that was requested. */
  get reason(): TerminationRequest["reason"] | undefined {
    return this.#termination.reason;
  }

  /** Inspects the child. Undefined before there is one, and where the system does not support it. */
  get inspector(): ProcessInspector | undefined {
    return this.#child ? this.#child.inspector : this.#lastInspector;
  }

  /** Whether there is something to end: the child, or what it left behind. */
  get hasTarget(): boolean {
    return this.#target !== undefined;
  }

  take(child: Child): void {
    this.#child = child;
  }

  /** Ends and releases a child whose start was cancelled. */
  discard(child: Child): void {
    discard(child, this.#options.clock, (leftover) => this.#released(child.pid, leftover));
  }

  /** The start failed: there is no child. */
  none(): void {
    this.#settle();
  }

  terminate(request: TerminationRequest): void {
    if (this.#target) this.#termination.begin(this.#target, request);
  }

  /** A timer of the termination is over. */
  proceed(): void {
    if (this.#target) this.#termination.proceed(this.#target);
  }

  /** Releases the pid after the end and after the last kill that is still due. Call it whenever one of these may have come. */
  releaseIfOver({ exited, closed }: End): void {
    const target = this.#target;
    if (!exited || !target || this.#termination.isPending(target)) return;
    if (!closed) {
      if (this.streams.isClosing || this.#termination.reachesTree) this.streams.wait();
      return;
    }
    this.streams.cancel();
    this.#termination.cancel();
    if (this.#child) this.#release(this.#child);
  }

  /** Releases the child and its descriptors before its end, which will not be known. */
  giveUp(): void {
    this.#termination.cancel();
    if (this.#child) this.#released(this.#child.pid, this.#child.release());
    this.#settle();
  }

  /** Keeps nothing of a closed process: its child takes several times the memory of a small log. */
  #release(child: Child): void {
    this.#leftover = child.release();
    this.#child = undefined;
    if (child.inspector) this.#lastInspector = NOTHING_LEFT;
    this.#released(child.pid, this.#leftover);
  }

  #released(pid: number, leftover: Leftover | undefined): void {
    this.#options.onReleased(pid, leftover);
    this.#settle();
  }

  get #target(): KillTarget | undefined {
    return this.#child ?? this.#leftover;
  }
}
