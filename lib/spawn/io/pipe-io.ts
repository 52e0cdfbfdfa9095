// A child on pipes: stdout and stderr (or both on one pipe), and optionally stdin.
import { Socket } from "node:net";
import type { StreamName } from "../../../protocol/index.ts";
import type { ChildStdin } from "../child.ts";
import { pipeFile, type StreamFile } from "../proc/open-files.ts";
import { type ChildIo, type IoSink, READ_BYTES } from "./child-io.ts";
import { FdReader, type OnRead } from "./fd-reader.ts";

/** Our ends of the pipes. */
export interface PipeEnds {
  readonly stdin: number | undefined;
  readonly stdout: number;
  /** Undefined when merged into stdout. */
  readonly stderr: number | undefined;
}

/** System calls for pipes. Pipes are enlarged within a shared allowance. */
export interface PipeCalls {
  /** Makes a descriptor non-blocking. */
  unblock(fd: number): void;
  /** Enlarges a pipe whose use is not known yet; true if granted. */
  growEarly(fd: number): boolean;
  /** Enlarges a busy pipe; true if granted. */
  grow(fd: number): boolean;
  /** Returns the allowance of one enlarged pipe. */
  shrink(): void;
}

/** A stream counts as busy, and gets a larger pipe, after this many bytes. */
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
  /** A process may still read from it after our end was closed. */
  readonly #stdinFile: StreamFile | undefined;
  /** In the order of `streams`. */
  readonly #readers: readonly FdReader[];
  #sink: IoSink | undefined;
  #isReading = false;
  #paused = false;

  constructor(ends: PipeEnds, buffer: Uint8Array, calls: PipeCalls) {
    this.#buffer = buffer;
    this.#calls = calls;
    this.streams = ends.stderr === undefined ? ["stdout"] : ["stdout", "stderr"];
    this.stdin = ends.stdin === undefined ? undefined : new PipeStdin(ends.stdin);
    if (ends.stdin !== undefined) this.#stdinFile = pipeFile("stdin", ends.stdin);
    // A program that exits right after printing, as by `process.exit` in Node, loses the output that does not fit into the
    // pipe. The sockets that Node gives its children hold more than 200,000 bytes.
    if (calls.growEarly(ends.stdout)) this.#grown.add(ends.stdout);
    const { stdout, stderr } = ends;
    this.#readers = [this.#read(stdout, "stdout"), ...(stderr === undefined ? [] : [this.#read(stderr, "stderr")])];
  }

  /** Without output pipes that have ended: they have no writers left. */
  get files(): readonly StreamFile[] {
    const files = this.#stdinFile ? [this.#stdinFile] : [];
    for (const [index, { fd, isOpen }] of this.#readers.entries())
      if (isOpen) files.push(pipeFile(this.streams[index] as StreamName, fd));
    return files;
  }

  get openFiles(): readonly StreamFile[] {
    return this.files.filter(({ stream }) => stream !== "stdin" || this.stdin?.isOpen);
  }

  connect(sink: IoSink): void {
    this.#sink = sink;
  }

  startReading(): void {
    this.#isReading = true;
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
    if (!this.#isReading) for (const { fd, isOpen } of this.#readers) if (isOpen) this.#calls.unblock(fd);
    // The child's own output is in the pipes by now. The bound keeps a grandchild that floods them from blocking us.
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
    // EPIPE if the child closed its stdin; the callback of the write reports it already.
    this.#socket.on("error", () => undefined);
  }

  /** After `end` it stays open until all earlier writes are delivered. */
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
