// Reads one descriptor to its end. Node's stream does the polling; the bytes go through one buffer shared by all readers
// (each read is handed over before the next begins), so a read costs one copy and no allocation in between.
import { closeSync, readSync } from "node:fs";
import type { Socket } from "node:net";
import { copyChunk } from "./child-io.ts";

/** What Node needs to read into a buffer of ours; the types of Node know it for sockets only, terminals take it too. */
export interface OnRead {
  readonly buffer: Uint8Array;
  readonly callback: (bytes: number, buffer: Uint8Array) => boolean;
}

/** Makes a Node stream on the descriptor that reads as `onread` says. */
export type OpenStream = (fd: number, onread: OnRead) => Socket;

/** A descriptor to be read: by itself once it was started, and by `drain` at any time. */
export class FdReader {
  readonly fd: number;
  readonly #open: OpenStream;
  readonly #buffer: Uint8Array;
  readonly #onChunk: (chunk: Uint8Array) => void;
  readonly #onEnd: () => void;
  #stream: Socket | undefined;
  /** The stream closes its descriptor turns before it says so: from then on the number may be somebody else's. */
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

  /** Begins to read by itself, unless it has ended. */
  start(): void {
    if (this.#ended) return;
    const callback = (bytes: number) => {
      this.#onChunk(copyChunk(this.#buffer, bytes));
      return true;
    };
    const stream = this.#open(this.fd, { buffer: this.#buffer, callback });
    this.#stream = stream;
    // libuv takes a hangup after a partial read for the end (libuv#4992, in every Node up to 24) while the kernel may
    // hold more: what is left is read here, before the stream closes the descriptor.
    stream.on("end", () => {
      this.drain(Number.POSITIVE_INFINITY);
      this.#isOurs = false;
    });
    // EIO is how a terminal ends; any other error ends the stream as well, and `close` follows each of them.
    stream.on("error", () => {
      this.#isOurs = false;
    });
    stream.on("close", () => this.#end());
    stream.resume();
  }

  get ended(): boolean {
    return this.#ended;
  }

  /** Whether the descriptor is still ours; its end may be told turns later. */
  get isOpen(): boolean {
    return this.#isOurs;
  }

  pause(): void {
    if (!this.#ended) this.#stream?.pause();
  }

  resume(): void {
    if (!this.#ended) this.#stream?.resume();
  }

  /** Reads what the kernel holds now, up to about `limit` bytes. True when the end was met. Before `start` the descriptor must not block. */
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

  /** Closes the descriptor. Reports the end if it was not met before. */
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

/** Bytes read, 0 at the end, undefined when there are none now. */
function readNow(fd: number, buffer: Uint8Array): number | undefined {
  // That there is nothing is no exception here, and the stack trace of one takes ten times as long as the read. Where the
  // limit is frozen it is left as it is.
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
