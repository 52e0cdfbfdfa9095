// Ending a child for sure: SIGTERM, the grace, SIGKILL, to everyone in scope. The child's own death is not the end of it:
// who is left of its group may have ignored the SIGTERM.
import type { ExitReason, KillScope } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { KillTarget } from "../spawn/child.ts";

/** What to do. */
export interface TerminationRequest {
  readonly reason: Extract<ExitReason, "terminate" | "timeout">;
  readonly graceMs: number;
  readonly scope: KillScope;
}

/** How often to look whether the last survivor is gone, once the child itself is. */
const LOOK_AGAIN_MS = 50;
/** Who survives SIGKILL this many looks is stuck in the kernel, or is not ours to kill. */
const MAX_LOOKS_AFTER_KILL = 40;

/** At most one running termination of a child; a later request replaces its scope and grace. */
export class Termination {
  readonly #clock: Clock;
  readonly #onTimer: () => void;
  #reason: TerminationRequest["reason"] | undefined;
  #scope: KillScope | undefined;
  /** When SIGTERM becomes SIGKILL. */
  #grace: Cancel | undefined;
  #look: Cancel | undefined;
  #graceIsOver = false;
  #looksLeft = MAX_LOOKS_AFTER_KILL;

  /** `onTimer` must lead to a call of `proceed`, in a turn of its own. */
  constructor(clock: Clock, onTimer: () => void) {
    this.#clock = clock;
    this.#onTimer = onTimer;
  }

  /** Why the child was asked to end; the first request counts. */
  get reason(): TerminationRequest["reason"] | undefined {
    return this.#reason;
  }

  /** Whether everything that the child has started was to be ended. */
  get reachesTree(): boolean {
    return this.#scope === "tree";
  }

  /** Asks the child to end, or kills it when there is no grace. */
  begin(target: KillTarget, { reason, graceMs, scope }: TerminationRequest): void {
    this.#reason ??= reason;
    this.cancel();
    this.#scope = scope;
    this.#graceIsOver = graceMs === 0;
    this.#looksLeft = MAX_LOOKS_AFTER_KILL;
    if (this.#graceIsOver) return target.kill("SIGKILL", scope);
    // Armed first: also when somebody in scope may not be signalled, the others get their SIGKILL.
    this.#grace = this.#clock.after(graceMs, () => {
      this.#graceIsOver = true;
      this.#onTimer();
    });
    target.kill("SIGTERM", scope);
    // A stopped process cannot act on SIGTERM before it continues.
    target.kill("SIGCONT", scope);
  }

  /** Takes the step whose time has come. */
  proceed(target: KillTarget): void {
    if (this.#scope && this.#graceIsOver) target.kill("SIGKILL", this.#scope);
  }

  /**
   * Whether any process in scope is left, so that the child's pid must stay reserved. If so, looks again by `onTimer`. To
   * be asked once the child itself has ended.
   */
  isPending(target: KillTarget): boolean {
    this.#look?.();
    this.#look = undefined;
    if (!this.#scope || !target.hasSurvivors(this.#scope)) return false;
    if (this.#graceIsOver) this.#looksLeft -= 1;
    if (this.#looksLeft === 0) return false;
    this.#look = this.#clock.after(LOOK_AGAIN_MS, this.#onTimer);
    return true;
  }

  cancel(): void {
    this.#grace?.();
    this.#look?.();
    this.#scope = undefined;
  }
}
