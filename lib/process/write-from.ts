// Input from a source: an Observable, an async iterable, a list. `write` itself answers with a status, which is easily ignored.
import { from, type ObservableInput } from "rxjs";
import { limits } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { WriteOptions } from "./port.ts";
import type { Process } from "./process.ts";
import { checkStarted, tooManyBytesWaiting, unknownProcess } from "./refusals.ts";

/** Well below the limit of a frame. */
const WRITE_BYTES = 256 * 1024;
/** What a source that cannot be paused may be ahead of the process: what its host would accept and let wait. */
const MAX_WAITING_BYTES = limits.stdinQueueBytes + limits.stdinParkedBytes;

/** Input of a process. Text is written as UTF-8. */
export type InputChunk = Uint8Array | string;

/** How to write from a source. */
export interface WriteFromOptions {
  /** Close stdin when the source has ended. Default true. */
  readonly end?: boolean;
  /** Stops writing. What was accepted before is written all the same. */
  readonly signal?: AbortSignal;
}

/** `process.write` that rejects unless the bytes are accepted: with STDIN_CLOSED, PROCESS_STARTING or PROCESS_UNKNOWN. */
export async function writeOrThrow(process: Process, chunk: InputChunk, options?: WriteOptions): Promise<void> {
  const status = await process.write(chunk, options);
  if (status === "accepted") return;
  if (status === "unknownProcess") throw unknownProcess(process.id);
  if (status === "starting") return checkStarted(process.id, "starting");
  throw new ExecwireError(
    "STDIN_CLOSED",
    `process ${process.id} has ended, has closed its stdin, or was started without one`,
  );
}

/**
 * Writes everything that `source` delivers, in order, and resolves with the number of bytes. An iterable is asked for its next
 * chunk when the process has room for it. An Observable cannot be paused: if its chunks that wait exceed 17 MiB, writing ends
 * with LIMIT_EXCEEDED. Rejects as `writeOrThrow` does, and with the error of the source; then stdin stays open.
 */
export async function writeFrom(
  process: Process,
  source: ObservableInput<InputChunk>,
  { end = true, signal }: WriteFromOptions = {},
): Promise<number> {
  const encoder = new TextEncoder();
  let written = 0;
  for await (const chunk of isIterable(source) ? source : waiting(source)) {
    const bytes = typeof chunk === "string" ? encoder.encode(chunk) : chunk;
    for (let start = 0; start < bytes.length; start += WRITE_BYTES) {
      const piece = bytes.subarray(start, start + WRITE_BYTES);
      await writeOrThrow(process, piece, signal && { signal });
      written += piece.length;
    }
  }
  signal?.throwIfAborted();
  if (end) await process.closeStdin();
  return written;
}

function isIterable(source: object): source is AsyncIterable<InputChunk> | Iterable<InputChunk> {
  return Symbol.asyncIterator in source || Symbol.iterator in source;
}

/** The values of an Observable or a promise. Those that came before an error are delivered first. */
async function* waiting(source: ObservableInput<InputChunk>): AsyncGenerator<InputChunk> {
  const chunks: InputChunk[] = [];
  let bytes = 0;
  let end: { readonly error?: unknown } | undefined;
  let wake = (): void => undefined;
  const finish = (outcome: { readonly error?: unknown }): void => {
    end ??= outcome;
    wake();
  };
  const subscription = from(source).subscribe({
    next(chunk) {
      if (end) return;
      if (chunks.length > 0 && bytes + chunk.length > MAX_WAITING_BYTES)
        return finish({ error: tooManyBytesWaiting() });
      chunks.push(chunk);
      bytes += chunk.length;
      wake();
    },
    error: (error) => finish({ error }),
    complete: () => finish({}),
  });
  try {
    for (;;) {
      const chunk = chunks.shift();
      if (chunk !== undefined) {
        bytes -= chunk.length;
        yield chunk;
      } else if (!end) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      } else if ("error" in end) throw end.error;
      else return;
    }
  } finally {
    subscription.unsubscribe();
  }
}
