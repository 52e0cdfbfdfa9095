// Copies a process's output to our stdout and stderr. Nothing is lost silently: the process waits for our reader, or gaps are
// reported.
import type { Delivery, DeliveryMode, ExitedEvent, Seq } from "../../protocol/index.ts";
import { onAbort } from "../abort.ts";
import type { Process } from "../process/process.ts";
import { hasLostReader } from "./standard-streams.ts";

/** Our own stdout or stderr cannot be written to. */
export class OutputError extends Error {
  readonly code: string;

  constructor(name: string, cause: NodeJS.ErrnoException) {
    super(`cannot write to ${name}: ${cause.message}`, { cause });
    this.code = cause.code ?? "UNKNOWN";
  }
}

/** Whether an error means that the reader of our output has closed its end. */
export function isReaderGone(error: unknown): boolean {
  return error instanceof OutputError && error.code === "EPIPE";
}

/** How often to renew the lease on the process's pause: while we wait for our own slow reader, we are still alive. */
const RENEW_MS = 10_000;

/** How often to look whether the reader is still there while there is nothing to write. */
const WATCH_MS = 500;

/** Bytes written at once: a slow reader is seen to take output once it has taken this much. */
const PIECE_BYTES = 16 * 1024;

/** How long our last messages may take. */
const LAST_WORDS_MS = 200;

/** A write was given up. It would keep the program alive until the reader takes it. */
let isGivenUp = false;

/** Ends the program if output was given up; otherwise Node ends it when all is written. */
export function endWithoutReader(): void {
  if (isGivenUp) exitSoon();
}

/** Exits if unread output is all that keeps the program alive. */
export function exitSoon(): void {
  setTimeout(() => process.exit(), LAST_WORDS_MS).unref();
}

/** How to write. */
export interface OutputOptions {
  /** Stops waiting for the reader; what it has not taken is lost. */
  readonly signal?: AbortSignal | undefined;
  /** Called before and after the reader takes a piece. */
  readonly onProgress?: (() => void) | undefined;
}

/** How to read a process. */
export interface WriteAllOptions extends OutputOptions {
  readonly delivery: DeliveryMode;
  readonly afterSeq?: Seq | undefined;
  /** Reject when our reader is gone, even if there is nothing to write. */
  readonly watchReader?: boolean;
  /** Called before each event is written; returns what to write instead. */
  readonly through?: ((event: Delivery) => Delivery) | undefined;
}

/** Copies output until the process is closed; resolves with its exit, or undefined when stopped. Rejects with OutputError. */
export async function writeAll(child: Process, options: WriteAllOptions): Promise<ExitedEvent | undefined> {
  const { delivery, afterSeq = 0, signal, watchReader, through } = options;
  const events = child.iterate({ delivery, afterSeq });
  const stop = () => void events.return();
  if (signal?.aborted) stop();
  const stopListening = onAbort(signal, stop);
  const renewal = setInterval(() => events.renew(), RENEW_MS);
  let failure: OutputError | undefined;
  const watch = setInterval(() => {
    if (!watchReader || !hasLostReader()) return;
    const code = process.stdout.isTTY ? "EIO" : "EPIPE";
    failure = new OutputError("stdout", Object.assign(new Error("its reader is gone"), { code }));
    stop();
  }, WATCH_MS);
  try {
    for await (const event of events) await writeEvent(through ? through(event) : event, options);
  } finally {
    clearInterval(renewal);
    clearInterval(watch);
    stopListening();
  }
  if (failure) throw failure;
  return signal?.aborted ? undefined : child.log.exited;
}

/** Writes output to the matching stream, and reports gaps on stderr. */
export async function writeEvent(event: Delivery, options?: OutputOptions): Promise<void> {
  if (event.type === "gap") {
    const lost = event.bytes === undefined ? "output was lost" : `${event.bytes} bytes of output were lost`;
    const text = `execwire: ${lost} (events ${event.firstSeq} to ${event.lastSeq} are no longer retained)\n`;
    await write("stderr", text, options);
  }
  if (event.type === "output") await write(event.stream === "stderr" ? "stderr" : "stdout", event.chunk, options);
}

/** Writes to our own stdout or stderr and waits until it is taken, or the signal is aborted. Rejects with OutputError. */
export async function write(
  name: "stdout" | "stderr",
  content: Uint8Array | string,
  { signal, onProgress }: OutputOptions = {},
): Promise<void> {
  // Our own messages come first, since they were written first; they may be on the same terminal.
  const hasMessages = name === "stdout" && !signal?.aborted && process.stderr.writableLength > 0;
  if (hasMessages) await writePiece("stderr", "", signal).catch(() => undefined);
  const bytes = typeof content === "string" ? Buffer.from(content) : content;
  for (let start = 0; start < bytes.length && !signal?.aborted; start += PIECE_BYTES) {
    onProgress?.();
    await writePiece(name, bytes.subarray(start, start + PIECE_BYTES), signal);
    onProgress?.();
  }
}

function writePiece(
  name: "stdout" | "stderr",
  piece: Uint8Array | string,
  signal: AbortSignal | undefined,
): Promise<void> {
  return new Promise((resolve, reject) => {
    const giveUp = () => {
      isGivenUp = true;
      resolve();
    };
    const stopListening = onAbort(signal, giveUp);
    process[name].write(piece, (error) => {
      stopListening();
      if (error) reject(new OutputError(name, error));
      else resolve();
    });
  });
}
