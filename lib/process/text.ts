// Output as text. Each stream has its own streaming decoder, so that a character split over two chunks is decoded correctly,
// even if a chunk of the other stream comes between them.
import { concat, concatMap, defer, filter, from, map, type Observable } from "rxjs";
import type { Delivery, GapNotice, OutputEvent, Seq, StreamName } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import { guardLike } from "../log/guarded-observable.ts";
import { omissionMark } from "./omission-mark.ts";
import type { EventsOptions, Process } from "./process.ts";

/** Which output, how to decode it, and what to put in place of lost output. */
export interface TextOptions extends EventsOptions {
  /** Only this stream. Default: all, in the order of their seqs. */
  readonly stream?: StreamName;
  /** A label that `TextDecoder` accepts. Default utf-8; invalid bytes become U+FFFD. A byte order mark is a character. */
  readonly encoding?: string;
  /**
   * What stands for lost output: `mark` (the default) a line such as `[... 1234 bytes omitted ...]`, `skip` nothing, `error` a
   * failure with OUTPUT_LOST; or the text that the function returns.
   */
  readonly onGap?: "mark" | "skip" | "error" | ((gap: GapNotice) => string);
}

/** A piece of decoded output, or the text for a gap. */
export interface Piece {
  readonly stream: StreamName;
  /** Of the last event that it covers. */
  readonly seq: Seq;
  readonly text: string;
  readonly gap?: GapNotice;
}

/**
 * The output as pieces of text, as they arrive. Cold: each subscription replays what is retained, then follows; it completes
 * after `closed` and fails as `events` does. Without a gap, the concatenated pieces are the whole output.
 */
export function text(process: Process, options: TextOptions = {}): Observable<string> {
  const { onGap = "mark" } = options;
  const texts = defer(() => {
    let isLineStart = true;
    return pieces(process, options).pipe(
      map(({ text: piece, gap }) => {
        // A mark is a line of its own.
        const shown = gap && onGap === "mark" ? `${isLineStart ? "" : "\n"}${piece}\n` : piece;
        if (shown !== "") isLineStart = shown.endsWith("\n");
        return shown;
      }),
      filter((piece) => piece !== ""),
    );
  });
  return guardLike(process.output$, texts);
}

/** Node's types declare TextDecoder as a value only. */
type Decoder = InstanceType<typeof TextDecoder>;

/** Decoded chunks and the texts for gaps, then what remains in the decoders. */
export function pieces(
  process: Process,
  { afterSeq = 0, stream, encoding, onGap = "mark" }: TextOptions,
): Observable<Piece> {
  return defer(() => {
    const decoders = new Map<StreamName, Decoder>();
    let lastSeq = afterSeq;
    const decode = (event: OutputEvent | GapNotice): Piece[] => {
      if (event.type === "gap") {
        // Half a character before the gap must not be completed by bytes after it.
        const cut = flush(decoders, lastSeq);
        lastSeq = event.lastSeq;
        return [...cut, { ...gapPiece(process, event, onGap), ...(stream && { stream }) }];
      }
      lastSeq = event.seq;
      if (stream && event.stream !== stream) return [];
      let decoder = decoders.get(event.stream);
      if (!decoder) {
        decoder = new TextDecoder(encoding, { ignoreBOM: true });
        decoders.set(event.stream, decoder);
      }
      return [{ stream: event.stream, seq: event.seq, text: decoder.decode(event.chunk, { stream: true }) }];
    };
    return concat(
      process.events({ afterSeq }).pipe(filter(isOutput), concatMap(decode)),
      defer(() => from(flush(decoders, lastSeq))),
    );
  });
}

function isOutput(event: Delivery): event is OutputEvent | GapNotice {
  return event.type === "output" || event.type === "gap";
}

function gapPiece(process: Process, gap: GapNotice, onGap: NonNullable<TextOptions["onGap"]>): Piece {
  if (onGap === "error") throw lostOutput(process.id, gap);
  const replacement = onGap === "skip" ? "" : onGap === "mark" ? omissionMark(gap.bytes) : onGap(gap);
  return { stream: process.info.tty ? "pty" : "stdout", seq: gap.lastSeq, text: replacement, gap };
}

/** Ends all decoders: an incomplete character becomes U+FFFD. */
function flush(decoders: Map<StreamName, Decoder>, seq: Seq): Piece[] {
  const rests = [...decoders].map(([stream, decoder]) => ({ stream, seq, text: decoder.decode() }));
  decoders.clear();
  return rests;
}

function lostOutput(processId: string, { firstSeq, lastSeq }: GapNotice): ExecwireError {
  const what = `events ${firstSeq} to ${lastSeq} of process ${processId} are no longer retained`;
  const message = `${what}; choose what stands for them with \`onGap\`, or read from the start with \`lossless\``;
  return new ExecwireError("OUTPUT_LOST", message, { data: { firstSeq, lastSeq } });
}
