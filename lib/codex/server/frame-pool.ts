// Memory for large frames, reused once a frame was sent: with a fresh allocation for each, garbage collection becomes the
// largest cost of a busy stream (measured: 40 % of the time).

/** A 64 KiB chunk in base64 with its envelope and a long id. */
const SLAB_BYTES = 96 * 1024;
/** Smaller frames come from Node's own pool or are cheap to allocate. */
const MIN_BYTES = 16 * 1024;
/** As many slabs as two full outboxes hold; one pool serves all connections. */
const MAX_FREE = 32;

/** A pool of frame memory. */
export class FramePool {
  readonly #free: ArrayBuffer[] = [];

  /** A frame of exactly this size; its contents are arbitrary. */
  acquire(bytes: number): Buffer {
    if (bytes < MIN_BYTES || bytes > SLAB_BYTES) return Buffer.allocUnsafe(bytes);
    return Buffer.from(this.#free.pop() ?? new ArrayBuffer(SLAB_BYTES), 0, bytes);
  }

  /** Gives the memory of a frame back once nothing reads it any more. */
  release({ buffer }: Uint8Array): void {
    if (!(buffer instanceof ArrayBuffer) || buffer.byteLength !== SLAB_BYTES) return;
    if (this.#free.length < MAX_FREE) this.#free.push(buffer);
  }
}
