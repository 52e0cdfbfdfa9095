// A child on a terminal: one stream both ways through the master. We hold the other side (the slave) open as well, for
// two reasons: without a holder the kernel reports a hangup, on which libuv drops what it has not read, and a child that
// closes its terminal on purpose would be killed by the hangup.
import { closeSync, constants, openSync } from "node:fs";
import type { Socket } from "node:net";
import { ReadStream } from "node:tty";
import type { StreamName, TerminalSize } from "../../protocol/index.ts";
import { type ChildIo, type IoSink, READ_BYTES } from "./child-io.ts";
import { FdReader, type OnRead } from "./fd-reader.ts";
import { type StreamFile, terminalFile } from "./open-files.ts";
import type { LineModes } from "./tty-line.ts";
import { TtyStdin } from "./tty-stdin.ts";

/** Opens the other side of a terminal without making it our own controlling terminal. */
export function openSlave(path: string): number {
  return openSync(path, constants.O_RDWR | constants.O_NOCTTY);
}

/** Reads and writes a terminal's master. */
export class TtyIo implements ChildIo {
  readonly isTraceable = true;
  readonly streams: readonly StreamName[] = ["pty"];
  readonly stdin: TtyStdin;
  readonly #file: StreamFile;
  readonly #master: number;
  readonly #setSize: (fd: number, size: TerminalSize) => void;
  #slave: number | undefined;
  readonly #reader: FdReader;
  #sink: IoSink | undefined;
  #paused = false;
  #childIsGone = false;

  /** Takes over both descriptors. */
  constructor(
    master: number,
    slave: number,
    path: string,
    buffer: Uint8Array,
    setSize: (fd: number, size: TerminalSize) => void,
    modes?: (fd: number) => LineModes,
  ) {
    this.#master = master;
    this.#slave = slave;
    this.#setSize = setSize;
    this.#file = terminalFile(slave, path);
    this.stdin = new TtyStdin(master, modes);
    const onChunk = (chunk: Uint8Array) => {
      this.#sink?.output("pty", chunk);
      // Output, an echo most of all, is a sign that the terminal takes input again.
      this.stdin.retry();
    };
    this.#reader = new FdReader(master, openMaster, buffer, onChunk, () => this.#sink?.ended("pty"));
  }

  get files(): readonly StreamFile[] {
    return this.#reader.isOpen ? [this.#file] : [];
  }

  get openFiles(): readonly StreamFile[] {
    return this.files;
  }

  start(sink: IoSink): void {
    this.#sink = sink;
  }

  poll(): void {
    this.#reader.start();
    if (this.#paused) this.#reader.pause();
  }

  pause(): void {
    this.#paused = true;
    this.#reader.pause();
  }

  resume(): void {
    this.#paused = false;
    this.#reader.resume();
    if (this.#childIsGone) this.#letGo();
  }

  resize(size: TerminalSize): void {
    if (this.#slave !== undefined) this.#setSize(this.#master, size);
  }

  exited(): void {
    this.stdin.destroy();
    this.#childIsGone = true;
    // What a paused reader has not taken stays in the kernel, safe as long as we hold the slave.
    if (!this.#paused) this.#letGo();
  }

  release(): void {
    this.stdin.destroy();
    this.#closeSlave();
    this.#reader.destroy();
  }

  /** Reads the tail, then gives up the slave: the stream ends now, or when the last other holder is gone. */
  #letGo(): void {
    if (this.#slave === undefined) return;
    this.#reader.drain(4 * READ_BYTES);
    this.#closeSlave();
    if (this.#reader.drain(4 * READ_BYTES)) this.#reader.destroy();
  }

  #closeSlave(): void {
    if (this.#slave !== undefined) closeSync(this.#slave);
    this.#slave = undefined;
  }
}

function openMaster(fd: number, onread: OnRead): Socket {
  // The second parameter exists since Node 0.x but not in its documentation; it reaches the net.Socket below.
  return new (ReadStream as unknown as new (fd: number, options: object) => Socket)(fd, { onread });
}
