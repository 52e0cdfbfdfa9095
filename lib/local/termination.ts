// Ends a child reliably: SIGTERM, the grace period, SIGKILL, to every process in scope. The child's own exit does not finish
// it: other members of its group may have ignored SIGTERM.
import type { ExitReason, KillScope } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { KillTarget } from "../spawn/child.ts";

/** How to end a child. */
export interface TerminationRequest {
  readonly reason: Extract<ExitReason, "terminate" | "timeout">;
  readonly graceMs: number;
  readonly scope: KillScope;
}

/** How often to check whether the last survivor has ended, once the child itself has. */
const RECHECK_MS = 50;
/** A process that survives this many checks after SIGKILL is stuck in the kernel, or we may not kill it. */
const MAX_CHECKS_AFTER_KILL = 40;

/** At most one termination of a child is active; a later request replaces its scope and grace period. */
export class Termination {
  readonly #clock: Clock;
  readonly #onTimer: () => void;
  #reason: TerminationRequest["reason"] | undefined;
  #scope: KillScope | undefined;
  /** Fires when SIGKILL is due. */
  #grace: Cancel | undefined;
  #recheck: Cancel | undefined;
  #graceIsOver = false;
  #checksLeft = MAX_CHECKS_AFTER_KILL;

  /** `onTimer` must cause a call of `proceed` in a later turn. */
  constructor(clock: Clock, onTimer: () => void) {
    this.#clock = clock;
    this.#onTimer = onTimer;
  }

  /** The reason of the first request. */
  get reason(): TerminationRequest["reason"] | undefined {
    return this.#reason;
  }

  /** Whether the request covers everything that the child has started. */
  get reachesTree(): boolean {
    return this.#scope === "tree";
  }

  /** Asks the child to end, or kills it at once when there is no grace period. */
  begin(target: KillTarget, { reason, graceMs, scope }: TerminationRequest): void {
    this.#reason ??= reason;
    this.cancel();
    this.#scope = scope;
    this.#graceIsOver = graceMs === 0;
    this.#checksLeft = MAX_CHECKS_AFTER_KILL;
    if (this.#graceIsOver) return target.kill("SIGKILL", scope);
    // Armed first: even if we may not signal some process in scope, the others get their SIGKILL.
    this.#grace = this.#clock.after(graceMs, () => {
      this.#graceIsOver = true;
      this.#onTimer();
    });
    target.kill("SIGTERM", scope);
    // A stopped process cannot handle SIGTERM before it continues.
    target.kill("SIGCONT", scope);
  }

  /** Sends SIGKILL if the grace period is over. */
  proceed(target: KillTarget): void {
    if (this.#scope && this.#graceIsOver) target.kill("SIGKILL", this.#scope);
  }

  /**
   * Whether any process in scope is left, in which case the child's pid must stay reserved; then `onTimer` is called for
   * another check. Call it once the child itself has ended.
   */
  isPending(target: KillTarget): boolean {
    this.#recheck?.();
    this.#recheck = undefined;
    if (!this.#scope || !target.hasSurvivors(this.#scope)) return false;
    if (this.#graceIsOver) this.#checksLeft -= 1;
    if (this.#checksLeft === 0) return false;
    this.#recheck = this.#clock.after(RECHECK_MS, this.#onTimer);
    return true;
  }

  cancel(): void {
    this.#grace?.();
    this.#recheck?.();
    this.#scope = undefined;
  }
}
