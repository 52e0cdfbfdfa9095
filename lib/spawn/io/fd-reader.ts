// Reads one descriptor to its end. Node's stream does the polling. All readers share one buffer, since each read is copied
// out before the next one begins: a read costs one copy and no other allocation.
import { closeSync, readSync } from "node:fs";
import type { Socket } from "node:net";
import { copyChunk } from "./child-io.ts";

/** Makes Node read into our buffer. Node's types declare this option for sockets only; terminals accept it too. */
export interface OnRead {
  readonly buffer: Uint8Array;
  readonly callback: (bytes: number, buffer: Uint8Array) => boolean;
}

/** Creates a Node stream that reads the descriptor through `onread`. */
export type OpenStream = (fd: number, onread: OnRead) => Socket;

/** Reads a descriptor: continuously after `start`, and synchronously by `drain` at any time. */
export class FdReader {
  readonly fd: number;
  readonly #open: OpenStream;
  readonly #buffer: Uint8Array;
  readonly #onChunk: (chunk: Uint8Array) => void;
  readonly #onEnd: () => void;
  #stream: Socket | undefined;
  /** The stream closes its descriptor several turns before its `close` event; meanwhile the number may be reused. */
  #isOurs = true;
  #ended = false;

  constructor(
    fd: number,
    open: OpenStream,
    buffer: Uint8Array,
    onChunk: (chunk: Uint8Array) => void,
    onEnd: () => void,
  ) {
    this.fd = fd;
    this.#open = open;
    this.#buffer = buffer;
    this.#onChunk = onChunk;
    this.#onEnd = onEnd;
  }

  /** Starts to read continuously, unless the end was reached. */
  start(): void {
    if (this.#ended) return;
    const callback = (bytes: number) => {
      this.#onChunk(copyChunk(this.#buffer, bytes));
      return true;
    };
    const stream = this.#open(this.fd, { buffer: this.#buffer, callback });
    this.#stream = stream;
    // libuv treats a hangup after a partial read as the end (libuv#4992, in every Node up to 24) although the kernel may
    // hold more. Read the rest here, before the stream closes the descriptor.
    stream.on("end", () => {
      this.drain(Number.POSITIVE_INFINITY);
      this.#isOurs = false;
    });
    // A terminal ends with EIO. Any other error ends the stream as well; `close` follows in all cases.
    stream.on("error", () => {
      this.#isOurs = false;
    });
    stream.on("close", () => this.#end());
    stream.resume();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the descriptor is still ours. `onEnd` may be called several turns after it is not. */
  get isOpen(): boolean {
    return this.#isOurs;
  }

  pause(): void {
    if (!this.#ended) this.#stream?.pause();
  }

  resume(): void {
    if (!this.#ended) this.#stream?.resume();
  }

  /**
   * Reads the bytes that the kernel holds now, up to about `limit`. True if the end was reached. Before `start` the descriptor
   * must be non-blocking already.
   */
  drain(limit: number): boolean {
    for (let total = 0; this.#isOurs && total < limit; ) {
      const bytes = readNow(this.fd, this.#buffer);
      if (bytes === undefined) return false;
      if (bytes === 0) return true;
      total += bytes;
      this.#onChunk(copyChunk(this.#buffer, bytes));
    }
    return !this.#isOurs;
  }

  /** Closes the descriptor. Reports the end unless that has happened. */
  destroy(): void {
    if (this.#ended) return;
    this.#isOurs = false;
    if (this.#stream) this.#stream.destroy();
    else closeSync(this.fd);
    this.#end();
  }

  #end(): void {
    if (this.#ended) return;
    this.#ended = true;
    this.#onEnd();
  }
}

/** The number of bytes read, 0 at the end, undefined if there are none now. */
function readNow(fd: number, buffer: Uint8Array): number | undefined {
  // EAGAIN is the normal case, and a stack trace takes ten times as long as the read. `Reflect.set` because the limit may be
  // frozen; it then stays as it is.
  const { stackTraceLimit } = Error;
  Reflect.set(Error, "stackTraceLimit", 0);
  try {
    return readSync(fd, buffer, 0, buffer.length, null);
  } catch (error) {
    // EIO: the last holder of a terminal is gone.
    return (error as NodeJS.ErrnoException).code === "EAGAIN" ? undefined : 0;
  } finally {
    Reflect.set(Error, "stackTraceLimit", stackTraceLimit);
  }
}
