// Ending a child for sure: SIGTERM, the grace, SIGKILL, to everyone in scope. The child's death is not the end of it: who
// is left of its group may have ignored the SIGTERM.
import type { ExitReason, KillScope } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { Child } from "../spawn/child.ts";

/** What to do. */
export interface TerminationRequest {
  readonly reason: Extract<ExitReason, "terminate" | "timeout">;
  readonly graceMs: number;
  readonly scope: KillScope;
}

/** At most one running termination of a child; a later request replaces its scope and grace. */
export class Termination {
  readonly #clock: Clock;
  readonly #onGraceOver: () => void;
  #scope: KillScope | undefined;
  #grace: Cancel | undefined;
  #reason: TerminationRequest["reason"] | undefined;

  /** `onGraceOver` must lead to a call of `graceOver`, in a turn of its own. */
  constructor(clock: Clock, onGraceOver: () => void) {
    this.#clock = clock;
    this.#onGraceOver = onGraceOver;
  }

  /** Why the child was asked to end; the first request counts. */
  get reason(): TerminationRequest["reason"] | undefined {
    return this.#reason;
  }

  /** Asks the child to end, or kills it when there is no grace. */
  begin(child: Child, { reason, graceMs, scope }: TerminationRequest): void {
    this.#reason ??= reason;
    this.cancel();
    if (graceMs === 0) {
      child.kill("SIGKILL", scope);
      return;
    }
    this.#scope = scope;
    child.kill("SIGTERM", scope);
    // A stopped process cannot act on SIGTERM before it continues.
    child.kill("SIGCONT", scope);
    this.#grace = this.#clock.after(graceMs, this.#onGraceOver);
  }

  graceOver(child: Child): void {
    if (this.#scope) child.kill("SIGKILL", this.#scope);
    this.cancel();
  }

  /** Whether somebody in scope may still need the SIGKILL. */
  isPending(child: Child): boolean {
    return this.#scope !== undefined && child.hasSurvivors(this.#scope);
  }

  cancel(): void {
    this.#grace?.();
    this.#grace = undefined;
    this.#scope = undefined;
  }
}
