// Copies a process's output to our stdout and stderr. Nothing is lost silently: the process waits for our reader, or gaps are
// reported.

import type { Delivery, DeliveryMode, ExitedEvent, Seq } from "../../protocol/index.ts";
import { onAbort } from "../abort.ts";
import type { Process } from "../process/process.ts";

/** Our own stdout or stderr cannot be written to. */
export class OutputError extends Error {
  readonly code: string;

  constructor(name: string, cause: NodeJS.ErrnoException) {
    super(`cannot write to ${name}: ${cause.message}`, { cause });
    this.code = cause.code ?? "UNKNOWN";
  }
}

/** How often to renew the lease on the process's pause: while we wait for our own slow reader, we are still alive. */
const RENEW_MS = 10_000;

/** How to read a process. */
export interface WriteAllOptions {
  readonly delivery: DeliveryMode;
  readonly afterSeq?: Seq | undefined;
  /** Stops reading. */
  readonly signal?: AbortSignal;
}

/** Copies output until the process is closed; resolves with its exit, or undefined when stopped. Rejects with OutputError. */
export async function writeAll(
  child: Process,
  { delivery, afterSeq = 0, signal }: WriteAllOptions,
): Promise<ExitedEvent | undefined> {
  const events = child.iterate({ delivery, afterSeq });
  const stop = () => void events.return();
  if (signal?.aborted) stop();
  const stopListening = onAbort(signal, stop);
  const renewal = setInterval(() => events.renew(), RENEW_MS);
  try {
    for await (const event of events) await writeEvent(event);
  } finally {
    clearInterval(renewal);
    stopListening();
  }
  return signal?.aborted ? undefined : child.log.exited;
}

/** Writes output to the matching stream, and reports gaps on stderr. */
export async function writeEvent(event: Delivery): Promise<void> {
  if (event.type === "gap") {
    const lost = event.bytes === undefined ? "output was lost" : `${event.bytes} bytes of output were lost`;
    await write("stderr", `execwire: ${lost} (events ${event.firstSeq} to ${event.lastSeq} are no longer retained)\n`);
  }
  if (event.type === "output") await write(event.stream === "stderr" ? "stderr" : "stdout", event.chunk);
}

/** Writes to our own stdout or stderr and waits until the chunk is written. Rejects with OutputError. */
export function write(name: "stdout" | "stderr", chunk: Uint8Array | string): Promise<void> {
  const stream = process[name];
  // Each write reports its own error; without a listener the "error" event would end the program with a stack trace.
  if (stream.listenerCount("error") === 0) stream.on("error", () => undefined);
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(new OutputError(name, error)) : resolve()));
  });
}
