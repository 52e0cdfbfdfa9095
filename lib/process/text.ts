// Output as text. Each stream has its own streaming decoder, so that a character split over two chunks is decoded correctly,
// even if a chunk of the other stream comes between them.
import { concat, concatMap, defer, from, type Observable } from "rxjs";
import type { GapNotice, OutputEvent, StreamName } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import { guardLike } from "../log/guarded-observable.ts";
import type { Process } from "./process.ts";

/** Which output, how to decode it, and what to put in place of lost output. */
export interface TextOptions {
  /** Only this stream. Default: all, in the order of their seqs. */
  readonly stream?: StreamName;
  /** A label that `TextDecoder` accepts. Default utf-8; invalid bytes become U+FFFD. */
  readonly encoding?: string;
  /** On lost output, `error` (default) fails with OUTPUT_LOST; a function returns the text to insert. */
  readonly onGap?: "error" | ((gap: GapNotice) => string);
}

/** How to split lines. */
export interface LinesOptions extends TextOptions {
  /** Longer lines are split into pieces of this many characters, so that output without newlines stays bounded. Default 1 Mi. */
  readonly maxLength?: number;
}

/** One line of output, without its line end. */
export interface Line {
  readonly stream: StreamName;
  readonly text: string;
}

/** The output as pieces of text, as they arrive; replays what is retained. Concatenated, they are the whole output. */
export function text(process: Process, options: TextOptions = {}): Observable<string> {
  const texts = decodedPieces(process, options).pipe(concatMap((piece) => (piece.text === "" ? [] : [piece.text])));
  return guardLike(process.output$, texts);
}

/** The output line by line. A line ends with \n or \r\n; a last line without a line end is delivered when the output ends. */
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
    return concat(decodedPieces(process, options).pipe(concatMap(cut)), leftovers);
  });
  return guardLike(process.output$, cutLines);
}

/**
 * A line whose end has not arrived. Its pieces are joined only once, so that output without newlines costs no more than other
 * output.
 */
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
    // A piece of full length is delivered as a line; a shorter rest waits for more.
    if (rest.length === this.#maxLength) chopped.push(rest);
    else this.#push(rest);
    return [...lines, ...chopped];
  }

  /** The remaining line without an end, if any. */
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

/** Node's types declare TextDecoder as a value only. */
type Decoder = InstanceType<typeof TextDecoder>;

/** Decoded chunks with their stream, then what remains in the decoders. */
function decodedPieces(process: Process, { stream, encoding, onGap = "error" }: TextOptions): Observable<Line> {
  return defer(() => {
    const decoders = new Map<StreamName, Decoder>();
    const decode = (event: OutputEvent | GapNotice): Line[] => {
      if (event.type === "gap") {
        if (onGap === "error") throw lostOutput(process.id, event);
        // Half a character before the gap must not be completed by bytes after it.
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
    `${what}; choose a replacement with \`onGap\`, or read from the start with \`lossless\``,
    {
      data: { firstSeq: gap.firstSeq, lastSeq: gap.lastSeq },
    },
  );
}
