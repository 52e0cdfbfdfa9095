// The line being typed into a terminal. In canonical mode the kernel (n_tty) keeps 4,095 bytes of a line and its terminator, and
// silently drops the bytes between; in raw mode there are no lines. The program may change the mode at any time.
import { ExecwireError } from "../../errors.ts";

/** Most bytes of a line without its terminator: N_TTY_BUF_SIZE - 1. */
export const TTY_LINE_BYTES = 4095;

/** The effect of each of the 256 byte values on a line; undefined in raw mode, which has no lines. */
export type LineModes = Uint8Array | undefined;

/** Part of the line. */
const PART = 0;
/** Ends the line, or discards it. */
const END = 1;
/** Erases one byte or more; counted as one, so the real line may be shorter than the count. */
const ERASE = 2;
/** Makes the next byte part of the line, even a control character. */
const QUOTE = 3;
/** No effect on the line. */
const OTHER = 4;

// <asm-generic/termbits.h>: flags of c_iflag and c_lflag, and indices of c_cc.
const INLCR = 0o100;
const IGNCR = 0o200;
const ICRNL = 0o400;
const IXON = 0o2000;
const ISIG = 0o1;
const ICANON = 0o2;
const NOFLSH = 0o200;
const IEXTEN = 0o100000;
const [VINTR, VQUIT, VERASE, VKILL, VEOF, VSTART, VSTOP, VSUSP, VEOL] = [0, 1, 2, 3, 4, 8, 9, 10, 11];
const [VREPRINT, VWERASE, VLNEXT, VEOL2] = [12, 14, 15, 16];
const LFLAG_AT = 12;
const CC_AT = 17;
const NEWLINE = 0x0a;
const RETURN = 0x0d;

/** Parses a struct termios of the C library. Not for powerpc, mips and sparc, whose layout differs. */
export function lineModes(termios: Buffer): LineModes {
  const [input, local] = [termios.readUInt32LE(0), termios.readUInt32LE(LFLAG_AT)];
  if (!(local & ICANON)) return undefined;
  const modes = new Uint8Array(256).fill(PART);
  const set = (meaning: number, places: readonly number[]) => {
    for (const place of places) modes[termios[CC_AT + place] as number] = meaning;
  };
  if (input & IXON) set(OTHER, [VSTART, VSTOP]);
  if (local & IEXTEN) {
    set(OTHER, [VREPRINT]);
    set(ERASE, [VWERASE]);
    set(QUOTE, [VLNEXT]);
    set(END, [VEOL2]);
  }
  set(ERASE, [VERASE]);
  set(END, [VEOF, VEOL, VKILL]);
  if (local & ISIG) set(local & NOFLSH ? OTHER : END, [VINTR, VQUIT, VSUSP]);
  if (!(input & INLCR)) modes[NEWLINE] = END;
  if (input & IGNCR) modes[RETURN] = OTHER;
  else if (input & ICRNL) modes[RETURN] = END;
  // A control character of 0 is disabled.
  modes[0] = PART;
  return modes;
}

/** The terminal's own end-of-file character, Ctrl-D by default; undefined if it has none. For the same C libraries. */
export function endOfFile(termios: Buffer): number | undefined {
  return termios[CC_AT + VEOF] || undefined;
}

/** The state of a line after a chunk. */
interface LineState {
  readonly bytes: number;
  readonly quoted: boolean;
  /** The longest line within the chunk, in bytes. */
  readonly longest: number;
}

const START: LineState = { bytes: 0, quoted: false, longest: 0 };

/** Tracks the line being typed. Bytes typed in raw mode belong to no line, even if the terminal becomes canonical afterwards. */
export class TypedLine {
  readonly #modes: () => LineModes;
  /** After the bytes given to the kernel. */
  #submitted = START;
  /** After all reserved bytes, in the modes at the time of each reservation. */
  #reserved = START;
  #pendingWrites = 0;

  /** `modes` returns the current modes. */
  constructor(modes: () => LineModes) {
    this.#modes = modes;
  }

  /** The error if this chunk, after all reserved chunks, would be truncated; else undefined. */
  truncationError(chunk: Uint8Array): ExecwireError | undefined {
    const { longest } = advance(this.#reserved, chunk, this.#modes());
    if (longest <= TTY_LINE_BYTES) return undefined;
    const message = `the terminal truncates lines to ${TTY_LINE_BYTES} bytes, and this write would make one of ${longest}`;
    return new ExecwireError("LIMIT_EXCEEDED", `${message}; write shorter lines, or have the program use raw mode`, {
      data: { limit: "ttyLine" },
    });
  }

  /** Announces that this chunk will be written, after all chunks reserved before. */
  reserve(chunk: Uint8Array): void {
    this.#reserved = advance(this.#reserved, chunk, this.#modes());
    this.#pendingWrites += 1;
  }

  /** A reserved chunk is given to the kernel. */
  submit(chunk: Uint8Array): void {
    this.#submitted = advance(this.#submitted, chunk, this.#modes());
    this.#pendingWrites -= 1;
    if (this.#pendingWrites <= 0) this.#reserved = this.#submitted;
  }
}

function advance({ bytes, quoted }: LineState, chunk: Uint8Array, modes: LineModes): LineState {
  if (!modes) return START;
  let longest = 0;
  for (const byte of chunk) {
    const meaning = quoted ? PART : modes[byte];
    quoted = meaning === QUOTE;
    if (meaning === PART) bytes += 1;
    else if (meaning === END) bytes = 0;
    else if (meaning === ERASE && bytes > 0) bytes -= 1;
    if (bytes > longest) longest = bytes;
  }
  return { bytes, quoted, longest };
}
