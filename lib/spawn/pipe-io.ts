// A child on pipes: stdout and stderr (or both on one), and stdin when it was asked for.
import { Socket } from "node:net";
import type { StreamName } from "../../protocol/index.ts";
import type { ChildStdin } from "./child.ts";
import { type ChildIo, type IoSink, READ_BYTES } from "./child-io.ts";
import { FdReader, type OnRead } from "./fd-reader.ts";
import { pipeFile, type StreamFile } from "./open-files.ts";

/** Our ends of the pipes. */
export interface PipeEnds {
  readonly stdin: number | undefined;
  readonly stdout: number;
  /** Undefined when merged into stdout. */
  readonly stderr: number | undefined;
}

/** What pipes need of the system. They are made larger as far as a common allowance goes. */
export interface PipeCalls {
  /** From now on a read of an empty pipe returns at once. */
  unblock(fd: number): void;
  /** Asks for a larger pipe before anything is known of its use; true when granted. */
  growEarly(fd: number): boolean;
  /** The same for one that turned out to be busy. */
  grow(fd: number): boolean;
  /** Gives back what was granted for one pipe. */
  shrink(): void;
}

/** A stream is busy, and worth a larger pipe, after this many bytes. */
const BUSY_BYTES = 1024 * 1024;

/** Reads two pipes and writes one. */
export class PipeIo implements ChildIo {
  readonly streams: readonly StreamName[];
  readonly stdin: PipeStdin | undefined;
  readonly isTraceable = true;
  readonly #buffer: Uint8Array;
  readonly #calls: PipeCalls;
  /** Descriptors of enlarged pipes. */
  readonly #grown = new Set<number>();
  /** Somebody may still read from it when our end is long closed. */
  readonly #stdinFile: StreamFile | undefined;
  /** One for each of `streams`, in their order. */
  readonly #readers: readonly FdReader[];
  #sink: IoSink | undefined;
  #isPolling = false;
  #paused = false;

  constructor(ends: PipeEnds, buffer: Uint8Array, calls: PipeCalls) {
    this.#buffer = buffer;
    this.#calls = calls;
    this.streams = ends.stderr === undefined ? ["stdout"] : ["stdout", "stderr"];
    this.stdin = ends.stdin === undefined ? undefined : new PipeStdin(ends.stdin);
    if (ends.stdin !== undefined) this.#stdinFile = pipeFile("stdin", ends.stdin);
    // A program that exits by itself right after it has printed loses what does not fit at once: `process.exit` in Node. On
    // the socket that Node gives its children more than 200,000 bytes fit.
    if (calls.growEarly(ends.stdout)) this.#grown.add(ends.stdout);
    const { stdout, stderr } = ends;
    this.#readers = [this.#read(stdout, "stdout"), ...(stderr === undefined ? [] : [this.#read(stderr, "stderr")])];
  }

  /** Where output has ended nobody is left to write. */
  get files(): readonly StreamFile[] {
    const files = this.#stdinFile ? [this.#stdinFile] : [];
    for (const [index, { fd, isOpen }] of this.#readers.entries())
      if (isOpen) files.push(pipeFile(this.streams[index] as StreamName, fd));
    return files;
  }

  get openFiles(): readonly StreamFile[] {
    return this.files.filter(({ stream }) => stream !== "stdin" || this.stdin?.isOpen);
  }

  start(sink: IoSink): void {
    this.#sink = sink;
  }

  poll(): void {
    this.#isPolling = true;
    for (const reader of this.#readers) reader.start();
    if (this.#paused) this.pause();
  }

  pause(): void {
    this.#paused = true;
    for (const reader of this.#readers) reader.pause();
  }

  resume(): void {
    this.#paused = false;
    for (const reader of this.#readers) reader.resume();
  }

  resize(): void {}

  exited(): void {
    this.stdin?.destroy();
    if (this.#paused) return;
    if (!this.#isPolling) for (const { fd, isOpen } of this.#readers) if (isOpen) this.#calls.unblock(fd);
    // The child's own output is in the pipes by now. The bound keeps a grandchild that floods them from holding us here.
    for (const reader of this.#readers) if (reader.drain(4 * READ_BYTES)) reader.destroy();
  }

  release(): void {
    this.stdin?.destroy();
    for (const reader of this.#readers) reader.destroy();
  }

  #shrink(fd: number): void {
    if (this.#grown.delete(fd)) this.#calls.shrink();
  }

  #read(fd: number, stream: StreamName): FdReader {
    let quietBytes = BUSY_BYTES;
    const onChunk = (chunk: Uint8Array) => {
      if (quietBytes > 0) {
        quietBytes -= chunk.length;
        if (quietBytes <= 0 && !this.#grown.has(fd) && this.#calls.grow(fd)) this.#grown.add(fd);
      }
      this.#sink?.output(stream, chunk);
    };
    const onEnd = () => {
      this.#shrink(fd);
      this.#sink?.ended(stream);
    };
    return new FdReader(fd, openPipe, this.#buffer, onChunk, onEnd);
  }
}

/** The writing end of a pipe. */
class PipeStdin implements ChildStdin {
  readonly #socket: Socket;

  constructor(fd: number) {
    this.#socket = new Socket({ fd, readable: false, writable: true });
    // A child that closed its stdin: the callback of the write says so, this event says it again.
    this.#socket.on("error", () => undefined);
  }

  /** What was written before the end may still be on its way. */
  get isOpen(): boolean {
    return !this.#socket.destroyed;
  }

  write(chunk: Uint8Array, done: (error?: Error) => void): void {
    this.#socket.write(chunk, (error) => done(error ?? undefined));
  }

  end(): void {
    this.#socket.end();
  }

  destroy(): void {
    this.#socket.destroy();
  }
}

function openPipe(fd: number, onread: OnRead): Socket {
  return new Socket({ fd, readable: true, writable: false, onread } as never);
}
