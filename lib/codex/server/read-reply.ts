// The reply to `process/read`, made from the log. Lost output is left out, as in the exec-server: clients detect the loss by
// the seqs.
import type { Seq } from "../../../protocol/index.ts";
import { Cursor } from "../../log/cursor.ts";
import type { LogView } from "../../log/log-view.ts";
import { chunkOfRead, codexExitCode } from "./event-text.ts";
import { RawResult } from "./method.ts";

/** The reply, and how far it goes. */
export interface EncodedRead {
  readonly result: RawResult;
  /** The last seq that the client knows after this reply. */
  readonly readSeq: Seq;
}

/** Encodes the retained output after `afterSeq`: at least one chunk, and at most the smaller of `maxBytes` and `mostBytes`. */
export function readReply(log: LogView, afterSeq: Seq, maxBytes: number | undefined, mostBytes: number): EncodedRead {
  const budget = Math.min(maxBytes ?? mostBytes, mostBytes);
  const cursor = new Cursor(log, afterSeq);
  const parts: Buffer[] = [];
  let bytes = 0;
  let lastSeq = undefined as Seq | undefined;
  let isFull = false;
  const stopped = cursor.drain({
    hasRoom: () => !isFull,
    take: (delivery) => {
      if (delivery.type !== "output" && delivery.type !== "resized") return;
      const size = delivery.type === "output" ? delivery.chunk.length : 0;
      isFull = lastSeq !== undefined && (bytes >= budget || bytes + size > budget);
      if (isFull) return;
      if (lastSeq !== undefined) parts.push(COMMA);
      parts.push(chunkOfRead(delivery));
      bytes += size;
      lastSeq = delivery.seq;
    },
  });
  // Events that are being loaded must not be skipped.
  const isCut = maxBytes !== undefined || stopped === "full";
  const readSeq =
    stopped === "loading" ? (lastSeq ?? afterSeq) : isCut && lastSeq !== undefined ? lastSeq : log.headSeq;
  const { exited, closed, failure } = log;
  const rest = {
    nextSeq: readSeq + 1,
    exited: exited !== undefined,
    exitCode: exited ? codexExitCode(exited) : null,
    closed,
    failure: failure?.message ?? null,
    sandboxDenied: exited?.sandboxDenied ?? false,
  };
  const tail = Buffer.from(`],${JSON.stringify(rest).slice(1)}`);
  return { result: new RawResult([HEAD, ...parts, tail]), readSeq };
}

const HEAD = Buffer.from('{"chunks":[');
const COMMA = Buffer.from(",");
