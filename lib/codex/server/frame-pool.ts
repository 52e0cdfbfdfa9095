// Memory for large frames, used again once a frame has left: allocating it anew for each makes the collector the largest cost
// of a busy stream (measured: 40 % of the time).

/** A chunk of 64 KiB in base64 with its envelope and a long id. */
const SLAB_BYTES = 96 * 1024;
/** Smaller frames come from Node's own pool, or cost little. */
const LEAST_BYTES = 16 * 1024;
/** What two full outboxes hold: one pool serves all connections. */
const MAX_FREE = 32;

/** Lends memory for frames. */
export class FramePool {
  readonly #free: ArrayBuffer[] = [];

  /** A frame of exactly that size, with anything in it. */
  take(bytes: number): Buffer {
    if (bytes < LEAST_BYTES || bytes > SLAB_BYTES) return Buffer.allocUnsafe(bytes);
    return Buffer.from(this.#free.pop() ?? new ArrayBuffer(SLAB_BYTES), 0, bytes);
  }

  /** Nobody reads the frame any more. */
  give({ buffer }: Uint8Array): void {
    if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== SLAB_BYTES) return;
    if (this.#free.length < MAX_FREE) this.#free.push(buffer);
  }
}
