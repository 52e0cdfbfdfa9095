// Sockets whose peers have not shown who they are: from the moment they are accepted, before any byte. Anybody who reaches
// the port can open them, so they are few, and the oldest makes room: whoever knows the token needs a moment only. Node only.
import type { Socket } from "node:net";
import type { Descriptors } from "./descriptors.ts";

/** While descriptors are scarce: enough for one who knows the token to come in. */
const MAX_WHEN_SCARCE = 4;

/** Bounds of the waiting. */
export interface WaitingBounds {
  /** Sockets at a time. */
  readonly max: number;
  /** From the connection to the end of the handshake. */
  readonly handshakeMs: number;
  readonly descriptors: Pick<Descriptors, "areScarce">;
}

/** The sockets of a listener that wait. */
export class WaitingSockets {
  readonly #bounds: WaitingBounds;
  /** The oldest first. */
  readonly #timers = new Map<Socket, NodeJS.Timeout>();

  constructor(bounds: WaitingBounds) {
    this.#bounds = bounds;
  }

  /** Takes in a socket that was just accepted; the oldest go when there are too many. */
  add(socket: Socket): void {
    const { max, handshakeMs, descriptors } = this.#bounds;
    // Counted, timed and ended here: Node waits for a request much longer.
    this.#timers.set(socket, setTimeout(() => socket.destroy(), handshakeMs).unref());
    socket.once("close", () => this.release(socket));
    const room = descriptors.areScarce ? Math.min(MAX_WHEN_SCARCE, max) : max;
    for (const oldest of this.#timers.keys()) {
      if (this.#timers.size <= room) return;
      this.release(oldest);
      oldest.destroy();
    }
  }

  /** The handshake is over; how long the peer may take to say who it is, others decide. */
  handshakeDone(socket: Socket): void {
    clearTimeout(this.#timers.get(socket));
  }

  /** The peer has shown who it is, or is gone. */
  release(socket: Socket): void {
    clearTimeout(this.#timers.get(socket));
    this.#timers.delete(socket);
  }

  /** Ends all of them. */
  destroy(): void {
    for (const socket of this.#timers.keys()) socket.destroy();
  }
}
