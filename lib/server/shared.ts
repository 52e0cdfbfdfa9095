// What the connections of a server share so that none of them takes it all: memory by role, and the looks of viewers.
import type { Limits } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { MemoryBudget } from "../log/memory-budget.ts";
import type { Role } from "./auth.ts";
import { Looks } from "./looks.ts";
import { OutboxPool } from "./outbox-pool.ts";

/** One for all connections of a server. */
export interface Shared {
  /** Outboxes by role, and those of the dialect. */
  readonly outboxes: Readonly<Record<Role | "codex", OutboxPool>>;
  /** Requests that are running and change nothing. */
  readonly running: Readonly<Record<Role, MemoryBudget>>;
  /** Replies that sessions keep until they are acknowledged. */
  readonly kept: MemoryBudget;
  readonly looks: Looks;
}

/** Shared things within `limits`. */
export function shareWithin(limits: Limits, clock: Clock): Shared {
  const { stallMs, crowdedMs, pauseLeaseMs } = limits;
  const pool = (bytes: number, stall = stallMs) => new OutboxPool({ clock, bytes, stallMs: stall, crowdedMs });
  return {
    outboxes: {
      control: pool(limits.outboxesBytes),
      view: pool(limits.viewOutboxesBytes),
      // Its clients may stop reading in order to hold processes back, as long as a pause may last.
      codex: pool(limits.codexOutboxesBytes, pauseLeaseMs),
    },
    running: {
      control: new MemoryBudget(limits.requestsBytes),
      view: new MemoryBudget(limits.viewRequestsBytes),
    },
    kept: new MemoryBudget(limits.repliesBytes),
    looks: new Looks(),
  };
}
