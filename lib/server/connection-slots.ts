// How many connections of each role a server has. Viewers have slots of their own, so that they never take one from a
// client that controls, and leave descriptors for processes. A seat is taken until the transport is gone, not only closed.
import type { Limits } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Descriptors } from "../transport/descriptors.ts";
import type { Role } from "./auth.ts";

/** What has a seat. */
export interface SlotOwner {
  /** Whether nothing is lost when it must come back: it follows nothing and waits for no answer. */
  readonly isIdle: boolean;
  /** Ends the connection at once; the peer may come back. */
  evict(): void;
}

/** The slots of a server. */
export class ConnectionSlots {
  readonly #taken: Readonly<Record<Role, Set<SlotOwner>>> = { control: new Set(), view: new Set() };
  readonly #max: Readonly<Record<Role, number>>;
  readonly #descriptors: Pick<Descriptors, "areScarce" | "areUsedUp">;

  constructor({ connections, viewConnections }: Limits, descriptors: Descriptors) {
    this.#max = { control: connections, view: descriptors.atMostAnEighth(viewConnections) };
    this.#descriptors = descriptors;
  }

  /** Takes a seat. Throws LIMIT_EXCEEDED when there is none. Viewers that do nothing give theirs to the next one. */
  take(connection: SlotOwner, role: Role): void {
    const taken = this.#taken[role];
    if (taken.has(connection)) return;
    const max = this.#max[role];
    if (taken.size >= max && !(role === "view" && this.#evictIdle())) {
      const limit = role === "view" ? "viewConnections" : "connections";
      throw new ExecwireError("LIMIT_EXCEEDED", `too many connections: ${limit} is ${max}`, { data: { limit } });
    }
    const { areScarce, areUsedUp } = this.#descriptors;
    if (role === "view" ? areScarce : areUsedUp) {
      const message = "too many descriptors are open; what is left is for the processes";
      throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "reservedDescriptors" } });
    }
    taken.add(connection);
  }

  /** Gives the seat back, if the connection has one. */
  free(connection: SlotOwner): void {
    for (const taken of Object.values(this.#taken)) taken.delete(connection);
  }

  #evictIdle(): boolean {
    for (const connection of this.#taken.view) {
      if (!connection.isIdle) continue;
      this.#taken.view.delete(connection);
      connection.evict();
      return true;
    }
    return false;
  }
}
