// Output as text. Each stream has its own streaming decoder, so that a character split over two chunks decodes correctly, also
// with a chunk of another stream between them.
import { concat, concatMap, defer, from, type Observable } from "rxjs";
import type { GapNotice, OutputEvent, StreamName } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import { guardLike } from "../log/guarded-observable.ts";
import type { Process } from "./process.ts";

/** Which output to decode, and how to treat lost output. */
export interface TextOptions {
  /** Only this stream. Default: all, in the order of their seqs. */
  readonly stream?: StreamName;
  /** A label of `TextDecoder`. Default utf-8; invalid bytes become U+FFFD. */
  readonly encoding?: string;
  /** For lost output: `error` (default) fails with OUTPUT_LOST; a function returns the text to put in its place. */
  readonly onGap?: "error" | ((gap: GapNotice) => string);
}

/** How to split lines. */
export interface LinesOptions extends TextOptions {
  /** Longer lines are split into pieces of this many UTF-16 units, which bounds output without newlines. Default 1 Mi. */
  readonly maxLength?: number;
}

/** One line of output, without its line ending. */
export interface Line {
  readonly stream: StreamName;
  readonly text: string;
}

/** The output as text, piece by piece as it arrives; replays what is retained. The pieces concatenate to the whole text. */
export function text(process: Process, options: TextOptions = {}): Observable<string> {
  const texts = pieces(process, options).pipe(concatMap((piece) => (piece.text === "" ? [] : [piece.text])));
  return guardLike(process.output$, texts);
}

/** The output line by line. A line ends with \n or \r\n; an unterminated last line is delivered at the end. */
export function lines(process: Process, options: LinesOptions = {}): Observable<Line> {
  const maxLength = options.maxLength ?? 1024 * 1024;
  const cutLines = defer(() => {
    const open = new Map<StreamName, OpenLine>();
    const cut = ({ stream, text: piece }: Line): Line[] => {
      let line = open.get(stream);
      if (!line) {
        line = new OpenLine(maxLength);
        open.set(stream, line);
      }
      return line.add(piece).map((found) => ({ stream, text: found }));
    };
    const leftovers = defer(() =>
      from([...open].flatMap(([stream, line]) => line.end().map((rest) => ({ stream, text: rest })))),
    );
    return concat(pieces(process, options).pipe(concatMap(cut)), leftovers);
  });
  return guardLike(process.output$, cutLines);
}

/** An unterminated line. Its pieces are joined only once, so output without newlines costs no more than other output. */
class OpenLine {
  readonly #maxLength: number;
  #parts: string[] = [];
  #length = 0;

  constructor(maxLength: number) {
    this.#maxLength = maxLength;
  }

  /** Adds the next piece of the stream and returns the lines that it completes. */
  add(piece: string): string[] {
    const [first = "", ...others] = piece.split("\n");
    this.#push(first);
    const lines: string[] = [];
    for (const other of others) {
      const whole = this.#take();
      lines.push(...chop(whole.endsWith("\r") ? whole.slice(0, -1) : whole, this.#maxLength));
      this.#push(other);
    }
    if (this.#length < this.#maxLength) return lines;
    const chopped = chop(this.#take(), this.#maxLength);
    const rest = chopped.pop() ?? "";
    // A rest of full length is a line of its own; a shorter one waits for more text.
    if (rest.length === this.#maxLength) chopped.push(rest);
    else this.#push(rest);
    return [...lines, ...chopped];
  }

  /** Returns the unterminated line, if there is one. */
  end(): string[] {
    return this.#length > 0 ? [this.#take()] : [];
  }

  #push(part: string): void {
    this.#parts.push(part);
    this.#length += part.length;
  }

  #take(): string {
    const whole = this.#parts.join("");
    this.#parts = [];
    this.#length = 0;
    return whole;
  }
}

/** Node declares TextDecoder as a value only. */
type Decoder = InstanceType<typeof TextDecoder>;

/** Decoded chunks with their streams; at the end, the text of incomplete characters. */
function pieces(process: Process, { stream, encoding, onGap = "error" }: TextOptions): Observable<Line> {
  return defer(() => {
    const decoders = new Map<StreamName, Decoder>();
    const decode = (event: OutputEvent | GapNotice): Line[] => {
      if (event.type === "gap") {
        if (onGap === "error") throw lostOutput(process.id, event);
        // An incomplete character before the gap must not be completed by bytes after it.
        const cut = flush(decoders);
        decoders.clear();
        return [...cut, { stream: stream ?? "stdout", text: onGap(event) }];
      }
      if (stream && event.stream !== stream) return [];
      let decoder = decoders.get(event.stream);
      if (!decoder) {
        decoder = new TextDecoder(encoding);
        decoders.set(event.stream, decoder);
      }
      return [{ stream: event.stream, text: decoder.decode(event.chunk, { stream: true }) }];
    };
    return concat(
      process.output$.pipe(concatMap(decode)),
      defer(() => from(flush(decoders))),
    );
  });
}

function flush(decoders: Map<StreamName, Decoder>): Line[] {
  return [...decoders].map(([stream, decoder]) => ({ stream, text: decoder.decode() }));
}

function chop(line: string, maxLength: number): string[] {
  if (line.length <= maxLength) return [line];
  const parts: string[] = [];
  for (let start = 0; start < line.length; start += maxLength) parts.push(line.slice(start, start + maxLength));
  return parts;
}

function lostOutput(processId: string, gap: GapNotice): ExecwireError {
  const what = `events ${gap.firstSeq} to ${gap.lastSeq} of process ${processId} are no longer retained`;
  return new ExecwireError(
    "OUTPUT_LOST",
    `${what}; pass \`onGap\` to put a text in their place, or iterate from the start with \`lossless\` delivery`,
    {
      data: { firstSeq: gap.firstSeq, lastSeq: gap.lastSeq },
    },
  );
}
