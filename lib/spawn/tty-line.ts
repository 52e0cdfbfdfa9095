// The line that is being typed into a terminal. In canonical mode the kernel (n_tty) keeps 4,095 bytes of a line and its
// end, and drops what is between without a word; in raw mode there are no lines. Which it is, the program decides at any time.
import { ExecwireError } from "../errors.ts";

/** Bytes of one line without its end: N_TTY_BUF_SIZE less one. */
export const TTY_LINE_BYTES = 4095;

/** What each of the 256 bytes does to a line; undefined in raw mode, where there are none. */
export type LineModes = Uint8Array | undefined;

/** Part of the line. */
const PART = 0;
/** Ends the line, or throws it away. */
const END = 1;
/** Takes back one byte, or more: then the line is shorter than it is taken for here. */
const ERASE = 2;
/** Makes the next byte part of the line, whatever it is. */
const QUOTE = 3;
/** Does something else. */
const OTHER = 4;

// <asm-generic/termbits.h>: c_iflag, c_lflag, and the places in c_cc.
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

/** From a struct termios of the C library. Not for powerpc, mips and sparc, where it has another shape. */
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
  // A zero in the place of a character stands for none.
  modes[0] = PART;
  return modes;
}

/** How far a line is. */
interface Position {
  readonly bytes: number;
  readonly quoted: boolean;
  /** The longest line on the way there. */
  readonly longest: number;
}

const START: Position = { bytes: 0, quoted: false, longest: 0 };

/** Counts what is typed. Bytes that a raw terminal took belong to no line, also when it becomes canonical afterwards. */
export class TypedLine {
  readonly #modes: () => LineModes;
  /** Of what the kernel was given. */
  #typed = START;
  /** Of what will be given to it, as the modes were when that was promised. */
  #promised = START;
  #waiting = 0;

  /** `modes` tells those of this moment. */
  constructor(modes: () => LineModes) {
    this.#modes = modes;
  }

  /** Why this chunk, after all that was promised, would not arrive whole. */
  refusal(chunk: Uint8Array): ExecwireError | undefined {
    const { longest } = advance(this.#promised, chunk, this.#modes());
    if (longest <= TTY_LINE_BYTES) return undefined;
    const message = `the terminal takes lines of up to ${TTY_LINE_BYTES} bytes and drops the rest, this write makes one of ${longest}`;
    return new ExecwireError("LIMIT_EXCEEDED", `${message}; end it before, or let the program make its terminal raw`, {
      data: { limit: "ttyLine" },
    });
  }

  /** This chunk will be typed after those that were promised before. */
  promise(chunk: Uint8Array): void {
    this.#promised = advance(this.#promised, chunk, this.#modes());
    this.#waiting += 1;
  }

  /** A promised chunk is given to the kernel. */
  type(chunk: Uint8Array): void {
    this.#typed = advance(this.#typed, chunk, this.#modes());
    this.#waiting -= 1;
    if (this.#waiting <= 0) this.#promised = this.#typed;
  }
}

function advance({ bytes, quoted }: Position, chunk: Uint8Array, modes: LineModes): Position {
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
