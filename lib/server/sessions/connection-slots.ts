// Limits the number of connections per role. Viewers have separate slots, so they never take one from a control client, and they
// leave descriptors for processes. A slot stays taken until the transport is closed, not only until a close is requested.
import type { Limits } from "../../../protocol/index.ts";
import { ExecwireError } from "../../errors.ts";
import type { Descriptors } from "../../transport/admission/descriptors.ts";
import type { Role } from "../auth.ts";

/** A connection that may take a slot. */
export interface SlotOwner {
  /** Whether it has no subscription and waits for no reply, so that nothing is lost when it must reconnect. */
  readonly isIdle: boolean;
  /** Ends the connection at once; the peer may reconnect. */
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

  /** Takes a slot. A new viewer may evict an idle one. Throws LIMIT_EXCEEDED if no slot or too few descriptors are free. */
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
      const message = "too many descriptors are open; the rest is reserved for processes";
      throw new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit: "reservedDescriptors" } });
    }
    taken.add(connection);
  }

  /** Frees the slot of the connection, if it has one. */
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
