// What the connections of a server share so that none of them takes it all: memory, and calls that take long, by role.
import type { Limits } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { MemoryBudget } from "../log/memory-budget.ts";
import type { Role } from "./auth.ts";
import { MemoryPool } from "./memory-pool.ts";
import { QueryQueue } from "./query-queue.ts";

/** One for all connections of a server. */
export interface SharedResources {
  /** What connections hold: by role, and those of the dialect. */
  readonly memory: Readonly<Record<Role | "dialect", MemoryPool>>;
  /** Replies that sessions keep until they are acknowledged. */
  readonly replies: MemoryBudget;
  readonly queries: Readonly<Record<Role, QueryQueue>>;
}

/** SharedResources things within `limits`. */
export function createSharedResources(limits: Limits, clock: Clock): SharedResources {
  const { stallMs, crowdedMs, pauseLeaseMs } = limits;
  const pool = (bytes: number, stall = stallMs) => new MemoryPool({ clock, bytes, stallMs: stall, crowdedMs });
  return {
    memory: {
      control: pool(limits.connectionsBytes),
      view: pool(limits.viewConnectionsBytes),
      // Its clients may stop reading in order to hold processes back, as long as a pause may last.
      dialect: pool(limits.dialectConnectionsBytes, pauseLeaseMs),
    },
    replies: new MemoryBudget(limits.repliesBytes),
    queries: { control: new QueryQueue(nextTurn), view: new QueryQueue() },
  };
}

/** Who may act waits for others no longer than that they get a turn in between. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
