// What a connection has handed to its socket and the kernel has not taken yet. There is no queue beside the socket's own:
// while it is full, the subscriptions simply do not ask their cursors.
import type { Transport } from "../transport/transport.ts";

/** Bounds of an outbox. */
export interface OutboxLimits {
  readonly outboxBytes: number;
  readonly outboxMaxBytes: number;
}

/** Counts the bytes in flight of one connection. */
export class Outbox {
  readonly #transport: Transport;
  readonly #limits: OutboxLimits;
  readonly #onRoom: () => void;
  readonly #onOverflow: () => void;
  #bytes = 0;
  #full = false;

  /** `onRoom` is called when there is room again after there was none; `onOverflow` when the peer does not read at all. */
  constructor(transport: Transport, limits: OutboxLimits, onRoom: () => void, onOverflow: () => void) {
    this.#transport = transport;
    this.#limits = limits;
    this.#onRoom = onRoom;
    this.#onOverflow = onOverflow;
  }

  /** Whether a subscription may send. */
  get hasRoom(): boolean {
    return !this.#full;
  }

  /** Sends a frame; `left` is called with it once its memory is not used any more. */
  send(frame: Uint8Array, left?: (frame: Uint8Array) => void): void {
    const bytes = frame.length;
    this.#bytes += bytes;
    this.#full ||= this.#bytes >= this.#limits.outboxBytes;
    this.#transport.send(frame, () => {
      left?.(frame);
      this.#sent(bytes);
    });
    if (this.#bytes > this.#limits.outboxMaxBytes) this.#onOverflow();
  }

  #sent(bytes: number): void {
    this.#bytes -= bytes;
    // Only at half: waking for every frame would send frames one by one.
    if (!this.#full || this.#bytes > this.#limits.outboxBytes / 2) return;
    this.#full = false;
    this.#onRoom();
  }
}
