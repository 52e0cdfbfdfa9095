// Output line by line.
import { concat, concatMap, defer, from, type Observable } from "rxjs";
import type { GapNotice, Seq, StreamName } from "../../protocol/index.ts";
import { guardLike } from "../log/guarded-observable.ts";
import type { Process } from "./process.ts";
import { type Piece, pieces, type TextOptions } from "./text.ts";

/** How to split lines. */
export interface LinesOptions extends TextOptions {
  /**
   * A longer line is delivered in pieces of at most this many UTF-16 units, so that output without newlines stays bounded.
   * Default 1 Mi. A character is never split; at least 2.
   */
  readonly maxLength?: number;
}

/** One line of output, without its line end. */
export interface Line {
  readonly stream: StreamName;
  /** Of the event in which it ended. */
  readonly seq: Seq;
  readonly text: string;
  /** True for a piece of a line that goes on: after `maxLength`, or where output was lost. Otherwise absent. */
  readonly isCut?: true;
  /** For a line that stands for lost output. */
  readonly gap?: GapNotice;
}

/**
 * The output line by line. A line ends with \n or \r\n; a last line without a line end is delivered when the output ends. Cold:
 * each subscription replays what is retained, then follows; it completes after `closed` and fails as `events` does.
 */
export function lines(process: Process, options: LinesOptions = {}): Observable<Line> {
  const maxLength = Math.max(2, options.maxLength ?? 1024 * 1024);
  const found = defer(() => {
    const open = new Map<StreamName, OpenLine>();
    const add = (piece: Piece): Line[] => {
      if (piece.gap) return [...endAll(open, true), ...(piece.text === "" ? [] : [piece])];
      let line = open.get(piece.stream);
      if (!line) {
        line = new OpenLine(piece.stream, maxLength);
        open.set(piece.stream, line);
      }
      return line.add(piece);
    };
    return concat(
      pieces(process, options).pipe(concatMap(add)),
      defer(() => from(endAll(open, false))),
    );
  });
  return guardLike(process.output$, found);
}

function endAll(open: Map<StreamName, OpenLine>, isCut: boolean): Line[] {
  const rests = [...open.values()].flatMap((line) => line.end(isCut));
  open.clear();
  return rests;
}

/** A line whose end has not arrived. Its pieces are joined only when it is delivered: output without newlines costs no more. */
class OpenLine {
  readonly #stream: StreamName;
  readonly #maxLength: number;
  #parts: string[] = [];
  #length = 0;
  #seq: Seq = 0;

  constructor(stream: StreamName, maxLength: number) {
    this.#stream = stream;
    this.#maxLength = maxLength;
  }

  /** Adds the next piece of the stream and returns the lines that it completes. */
  add({ text, seq }: Piece): Line[] {
    const found: Line[] = [];
    const [first = "", ...others] = text.split("\n");
    this.#push(first, seq);
    for (const other of others) {
      const whole = this.#take();
      this.#deliver(whole.endsWith("\r") ? whole.slice(0, -1) : whole, found);
      this.#push(other, seq);
    }
    // One more: the \r of a line end that has not arrived.
    if (this.#length > this.#maxLength + 1) this.#push(this.#cut(this.#take(), found), seq);
    return found;
  }

  /** The remaining line, which has no end, if any. */
  end(isCut: boolean): Line[] {
    const found: Line[] = [];
    if (this.#length > 0) this.#deliver(this.#take(), found);
    const last = found.pop();
    return last ? [...found, isCut ? { ...last, isCut } : last] : [];
  }

  #deliver(whole: string, found: Line[]): void {
    found.push({ stream: this.#stream, seq: this.#seq, text: this.#cut(whole, found) });
  }

  /** Delivers pieces of the greatest length; returns the rest, which is no longer than that. */
  #cut(whole: string, found: Line[]): string {
    let start = 0;
    while (whole.length - start > this.#maxLength) {
      const end = start + this.#maxLength - (isFirstHalf(whole.charCodeAt(start + this.#maxLength - 1)) ? 1 : 0);
      found.push({ stream: this.#stream, seq: this.#seq, text: whole.slice(start, end), isCut: true });
      start = end;
    }
    return start === 0 ? whole : whole.slice(start);
  }

  #push(part: string, seq: Seq): void {
    this.#parts.push(part);
    this.#length += part.length;
    this.#seq = seq;
  }

  #take(): string {
    const whole = this.#parts.join("");
    this.#parts = [];
    this.#length = 0;
    return whole;
  }
}

/** Whether a UTF-16 unit is the first of the two of a character beyond U+FFFF. */
function isFirstHalf(unit: number): boolean {
  return unit >= 0xd800 && unit <= 0xdbff;
}
