// A child on a terminal: one stream in both directions through the master. We keep the slave open as well, for two reasons: when
// no process has it open the kernel reports a hangup, on which libuv drops unread output; and a child that closes its terminal
// on purpose would be killed by the hangup.
import { closeSync, constants, openSync } from "node:fs";
import type { Socket } from "node:net";
import { ReadStream } from "node:tty";
import type { StreamName, TerminalSize } from "../../../protocol/index.ts";
import { type StreamFile, terminalFile } from "../proc/open-files.ts";
import { type ChildIo, type IoSink, READ_BYTES } from "./child-io.ts";
import { FdReader, type OnRead } from "./fd-reader.ts";
import { TtyStdin } from "./tty-stdin.ts";

/** Opens the slave of a terminal without making it our own controlling terminal. */
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

  /** Owns both descriptors from now on. */
  constructor(
    master: number,
    slave: number,
    path: string,
    buffer: Uint8Array,
    setSize: (fd: number, size: TerminalSize) => void,
    termios?: (fd: number) => Buffer,
  ) {
    this.#master = master;
    this.#slave = slave;
    this.#setSize = setSize;
    this.#file = terminalFile(slave, path);
    this.stdin = new TtyStdin(master, termios);
    const onChunk = (chunk: Uint8Array) => {
      this.#sink?.output("pty", chunk);
      // Output, an echo above all, suggests that the terminal has room for input again.
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

  connect(sink: IoSink): void {
    this.#sink = sink;
  }

  startReading(): void {
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
    if (this.#childIsGone) this.#drainAndCloseSlave();
  }

  resize(size: TerminalSize): void {
    if (this.#slave !== undefined) this.#setSize(this.#master, size);
  }

  exited(): void {
    this.stdin.destroy();
    this.#childIsGone = true;
    // While paused, unread output stays in the kernel: safe as long as we keep the slave open.
    if (!this.#paused) this.#drainAndCloseSlave();
  }

  release(): void {
    this.stdin.destroy();
    this.#closeSlave();
    this.#reader.destroy();
  }

  /** Reads the rest, then closes the slave: the stream ends now, or when the last other process closes it. */
  #drainAndCloseSlave(): void {
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
  // The second parameter has existed since Node 0.x but is undocumented; it is passed on to net.Socket.
  return new (ReadStream as unknown as new (fd: number, options: object) => Socket)(fd, { onread });
}
