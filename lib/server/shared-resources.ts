// The resources that connections of one role share, so that none of them takes all: memory, and time for expensive queries.
import type { Limits } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { MemoryBudget } from "../log/memory-budget.ts";
import type { Role } from "./auth.ts";
import { QueryQueue } from "./query-queue.ts";
import { MemoryPool } from "./sending/memory-pool.ts";

/** Shared by all connections of a server. */
export interface SharedResources {
  /** Memory of the connections of each role, and of those of the dialect. */
  readonly memory: Readonly<Record<Role | "dialect", MemoryPool>>;
  /** Memory of the replies that sessions keep until they are acknowledged. */
  readonly replies: MemoryBudget;
  readonly queries: Readonly<Record<Role, QueryQueue>>;
}

/** Creates the resources that `limits` allow. */
export function createSharedResources(limits: Limits, clock: Clock): SharedResources {
  const { stallMs, crowdedMs, pauseLeaseMs } = limits;
  const pool = (bytes: number, stall = stallMs) => new MemoryPool({ clock, bytes, stallMs: stall, crowdedMs });
  return {
    memory: {
      control: pool(limits.connectionsBytes),
      view: pool(limits.viewConnectionsBytes),
      // Clients of the dialect may stop reading to pause a process, for as long as a pause may last.
      dialect: pool(limits.dialectConnectionsBytes, pauseLeaseMs),
    },
    replies: new MemoryBudget(limits.repliesBytes),
    queries: { control: new QueryQueue(nextTurn), view: new QueryQueue() },
  };
}

/** Between the queries of control clients, other work gets only one turn of the event loop. */
function nextTurn(): Promise<void> {
  return new Promise((resolve) => setImmediate(resolve));
}
