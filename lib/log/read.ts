// Reads a log by long poll, for clients that do not subscribe. Lost output is reported as `gap`.

import type { GapNotice, OutputEvent, ReadOptions, ReadResult, Seq } from "../../protocol/index.ts";
import { onAbort } from "../abort.ts";
import { type Clock, systemClock } from "../clock.ts";
import { Cursor } from "./cursor.ts";
import type { LogView } from "./log-view.ts";

/**
 * Resolves at once if there is output after `afterSeq`, the log is closed, or the exit is news to the caller; otherwise on the
 * next of these, or after `waitMs`. Returns at least one whole chunk, even above `maxBytes`. Rejects with the log's failure.
 */
export async function read(
  view: LogView,
  options: ReadOptions & { readonly signal?: AbortSignal } = {},
  clock: Clock = systemClock,
): Promise<ReadResult> {
  await waitForNews(view, options, clock);
  const result = collect(view, options);
  if (view.failure && result.chunks.length === 0) throw view.failure;
  return result;
}

/** Resolves when a read has news to return, or after `waitMs`. Rejects with the signal's reason. */
export function waitForNews(
  view: LogView,
  { afterSeq = 0, waitMs = 0, signal }: Omit<ReadOptions, "maxBytes"> & { readonly signal?: AbortSignal },
  clock: Clock,
): Promise<void> {
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    const attempt = () => {
      if (hasNews(view, afterSeq)) end(resolve);
    };
    const end = (settle: () => void) => {
      cancel();
      stop();
      stopListening();
      settle();
    };
    const stop = view.onAppend(attempt);
    const cancel = waitMs > 0 ? clock.after(waitMs, () => end(resolve)) : () => undefined;
    const stopListening = onAbort(signal, () => end(() => reject(signal?.reason)));
    if (waitMs > 0) attempt();
    else end(resolve);
  });
}

function collect(view: LogView, { afterSeq = 0, maxBytes }: ReadOptions): ReadResult {
  const chunks: OutputEvent[] = [];
  const budget = maxBytes ?? Number.POSITIVE_INFINITY;
  const cursor = new Cursor(view, afterSeq);
  let gap = undefined as GapNotice | undefined;
  let bytes = 0;
  let isFull = false;
  cursor.drain({
    hasRoom: () => !isFull,
    take: (delivery) => {
      // The result has one field for losses. In a log written here only the exit separates two of them; a copy may have more.
      if (delivery.type === "gap") gap = gap ? join(gap, delivery) : delivery;
      if (delivery.type !== "output") return;
      const isFirst = chunks.length === 0;
      if (isFirst || bytes + delivery.chunk.length <= budget) chunks.push(delivery);
      bytes += delivery.chunk.length;
      isFull = bytes >= budget;
    },
  });
  const lastSeq = chunks.at(-1)?.seq;
  const { exited } = view;
  return {
    chunks,
    nextSeq: maxBytes === undefined || lastSeq === undefined ? view.headSeq + 1 : lastSeq + 1,
    ...(gap && { gap }),
    exited: exited !== undefined,
    exitCode: exited?.exitCode ?? null,
    signal: exited?.signal ?? null,
    closed: view.closed,
    sandboxDenied: exited?.sandboxDenied ?? false,
    ...(exited?.networkDenied && { networkDenied: true }),
  };
}

/** The exit is news if the caller's position is before the head; later calls wait again, for late output. */
function hasNews(view: LogView, afterSeq: Seq): boolean {
  if (view.closed || view.failure || (view.exited && afterSeq < view.headSeq)) return true;
  // Not a cursor, which would count a gap that is not delivered here.
  for (let seq = afterSeq; ; seq += 1) {
    const delivery = view.next(seq);
    if (delivery === undefined || delivery === "loading") return false;
    if (delivery.type === "output" || delivery.type === "gap") return true;
  }
}

function join(first: GapNotice, second: GapNotice): GapNotice {
  const bytes = first.bytes === undefined || second.bytes === undefined ? undefined : first.bytes + second.bytes;
  return { type: "gap", firstSeq: first.firstSeq, lastSeq: second.lastSeq, ...(bytes !== undefined && { bytes }) };
}
