// Sockets of unauthenticated peers, from the moment they are accepted. Any program that reaches the port can open them, so they
// are limited to a few, and the oldest makes room: a client with the token needs only a moment to authenticate. Node only.
import type { Socket } from "node:net";
import type { Descriptors } from "./descriptors.ts";

/** Sockets while descriptors are scarce: enough for a client with the token to get in. */
const MAX_WHEN_SCARCE = 4;

/** Limits on waiting sockets. */
export interface WaitingBounds {
  /** Sockets at the same time. */
  readonly max: number;
  /** Time from the connection to the end of the handshake. */
  readonly handshakeMs: number;
  readonly descriptors: Pick<Descriptors, "areScarce">;
}

/** The waiting sockets of a listener. */
export class WaitingSockets {
  readonly #bounds: WaitingBounds;
  /** Oldest first. */
  readonly #timers = new Map<Socket, NodeJS.Timeout>();

  constructor(bounds: WaitingBounds) {
    this.#bounds = bounds;
  }

  /** Adds a socket that was just accepted. Destroys the oldest ones if there are too many. */
  add(socket: Socket): void {
    const { max, handshakeMs, descriptors } = this.#bounds;
    // The time limit is set here because Node would wait for a request much longer.
    this.#timers.set(socket, setTimeout(() => socket.destroy(), handshakeMs).unref());
    socket.once("close", () => this.release(socket));
    const room = descriptors.areScarce ? Math.min(MAX_WHEN_SCARCE, max) : max;
    for (const oldest of this.#timers.keys()) {
      if (this.#timers.size <= room) return;
      this.release(oldest);
      oldest.destroy();
    }
  }

  /** The handshake is complete; from here on the connection sets its own time limit for the hello. */
  handshakeDone(socket: Socket): void {
    clearTimeout(this.#timers.get(socket));
  }

  /** The peer has authenticated, or its socket is closed. */
  release(socket: Socket): void {
    clearTimeout(this.#timers.get(socket));
    this.#timers.delete(socket);
  }

  /** Destroys all waiting sockets. */
  destroy(): void {
    for (const socket of this.#timers.keys()) socket.destroy();
  }
}
