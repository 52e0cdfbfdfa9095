// Writes input to a terminal. libuv writes to a master in blocking mode, so that a child that does not read would freeze this
// program; node-pty retries in a busy loop. Here a write to a full terminal is retried when the child prints, and otherwise after
// a growing pause.
import { writeSync } from "node:fs";
import type { ChildStdin } from "../child.ts";
import { endOfFile, lineModes, TypedLine } from "./tty-line.ts";

const FIRST_PAUSE_MS = 1;
const LAST_PAUSE_MS = 50;
/** Ctrl-D: the end-of-file character of a terminal whose modes are not known. */
const EOF = 0x04;
const NEWLINE = 0x0a;

interface Pending {
  rest: Uint8Array;
  readonly done: (error?: Error) => void;
}

/** Writes to a terminal's master, which must be non-blocking. */
export class TtyStdin implements ChildStdin {
  readonly line?: TypedLine;
  readonly #fd: number;
  readonly #termios: ((fd: number) => Buffer) | undefined;
  #pending: Pending | undefined;
  #timer: NodeJS.Timeout | undefined;
  #pauseMs = FIRST_PAUSE_MS;
  #atLineStart = true;
  #closed = false;

  /** Lines are tracked if `termios` reads the modes of the terminal. */
  constructor(fd: number, termios?: (fd: number) => Buffer) {
    this.#fd = fd;
    this.#termios = termios;
    if (termios) this.line = new TypedLine(() => lineModes(termios(fd)));
  }

  write(chunk: Uint8Array, done: (error?: Error) => void): void {
    this.line?.submit(chunk);
    if (chunk.length > 0) this.#atLineStart = chunk[chunk.length - 1] === NEWLINE;
    this.#pending = { rest: chunk, done };
    this.retry();
  }

  /** Within a line the first end-of-file character only ends the line; a second one ends the file. */
  end(): void {
    const character = this.#termios ? endOfFile(this.#termios(this.#fd)) : EOF;
    const end = Uint8Array.from(
      character === undefined ? [] : this.#atLineStart ? [character] : [character, character],
    );
    this.line?.reserve(end);
    this.write(end, () => undefined);
  }

  /** Continues a write for which the terminal had no room. */
  retry(): void {
    const pending = this.#pending;
    if (!pending) return;
    clearTimeout(this.#timer);
    this.#timer = undefined;
    if (this.#closed) return this.#finish(pending, new Error("the terminal is closed"));
    try {
      while (pending.rest.length > 0) {
        pending.rest = pending.rest.subarray(writeSync(this.#fd, pending.rest));
        this.#pauseMs = FIRST_PAUSE_MS;
      }
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== "EAGAIN") return this.#finish(pending, error as Error);
      this.#timer = setTimeout(() => this.retry(), this.#pauseMs);
      this.#pauseMs = Math.min(this.#pauseMs * 2, LAST_PAUSE_MS);
      return;
    }
    this.#finish(pending);
  }

  /** Writes nothing from now on; a pending write fails. */
  destroy(): void {
    this.#closed = true;
    this.retry();
  }

  #finish(pending: Pending, error?: Error): void {
    this.#pending = undefined;
    pending.done(error);
  }
}
