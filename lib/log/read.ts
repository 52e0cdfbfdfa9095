// A log read by long poll, for clients that ask instead of subscribing. The semantics are those of the Codex
// exec-server's `process/read` (seeds: local_process.rs, exec_read), with the loss it leaves unsaid as `gap`.
import type { GapNotice, OutputEvent, ReadOptions, ReadResult, Seq } from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { Cursor } from "./cursor.ts";
import type { LogView } from "./log-view.ts";

/**
 * Resolves at once when there is output after `afterSeq`, the log is closed, or the exit is news to the caller; else on
 * the next of these, or when `waitMs` is over. Returns at least one whole chunk whatever `maxBytes` says. Rejects with
 * the log's failure.
 */
export function read(
  view: LogView,
  options: ReadOptions & { readonly signal?: AbortSignal } = {},
  clock: Clock = systemClock,
): Promise<ReadResult> {
  const { signal } = options;
  return new Promise((resolve, reject) => {
    if (signal?.aborted) return reject(signal.reason);
    let expired = !options.waitMs;
    const attempt = () => {
      const result = collect(view, options);
      if (!expired && !view.failure && !isWorthAnswering(result, options.afterSeq ?? 0)) return;
      end();
      if (view.failure && result.chunks.length === 0) reject(view.failure);
      else resolve(result);
    };
    const end = () => {
      cancel();
      stop();
      signal?.removeEventListener("abort", abort);
    };
    const abort = () => {
      end();
      reject(signal?.reason);
    };
    const expire = () => {
      expired = true;
      attempt();
    };
    const stop = view.onAppend(attempt);
    const cancel = expired ? () => undefined : clock.after(options.waitMs ?? 0, expire);
    signal?.addEventListener("abort", abort);
    attempt();
  });
}

function collect(view: LogView, { afterSeq = 0, maxBytes }: ReadOptions): ReadResult {
  const chunks: OutputEvent[] = [];
  const budget = maxBytes ?? Number.POSITIVE_INFINITY;
  const cursor = new Cursor(view, afterSeq);
  let gap: GapNotice | undefined;
  let bytes = 0;
  let lastSeq: Seq | undefined;
  while (bytes < budget || chunks.length === 0) {
    const delivery = cursor.next();
    if (delivery === undefined || delivery === "loading") break;
    // Two gaps have the exit between them, which the answer tells anyway: they are one loss.
    if (delivery.type === "gap") gap = gap ? join(gap, delivery) : delivery;
    if (delivery.type !== "output") continue;
    if (chunks.length > 0 && bytes + delivery.chunk.length > budget) break;
    bytes += delivery.chunk.length;
    chunks.push(delivery);
    lastSeq = delivery.seq;
  }
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
  };
}

/** The exit is news when the caller's position lies before the head; afterwards it waits again, for late output. */
function isWorthAnswering(result: ReadResult, afterSeq: Seq): boolean {
  const exitIsNews = result.exited && afterSeq < result.nextSeq - 1;
  return result.chunks.length > 0 || result.gap !== undefined || result.closed || exitIsNews;
}

function join(first: GapNotice, second: GapNotice): GapNotice {
  const bytes = first.bytes === undefined || second.bytes === undefined ? undefined : first.bytes + second.bytes;
  return { type: "gap", firstSeq: first.firstSeq, lastSeq: second.lastSeq, ...(bytes !== undefined && { bytes }) };
}
