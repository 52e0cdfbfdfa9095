// Writes a process's output to ours, without loss: the process waits for our reader, or is told to us with its gaps.
import type { Delivery, DeliveryMode, ExitedEvent, Seq } from "../../protocol/index.ts";
import type { Process } from "../process/process.ts";

/** Our own stdout or stderr cannot be written any more. */
export class OutputError extends Error {
  readonly code: string;

  constructor(name: string, cause: NodeJS.ErrnoException) {
    super(`cannot write to ${name}: ${cause.message}`, { cause });
    this.code = cause.code ?? "UNKNOWN";
  }
}

/** A slow reader is alive as long as we are: the lease of the process's pause is renewed this often. */
const RENEW_MS = 10_000;

/** How to read a process. */
export interface WriteAllOptions {
  readonly delivery: DeliveryMode;
  readonly afterSeq?: Seq | undefined;
  /** Stops reading. */
  readonly signal?: AbortSignal;
}

/** Copies everything until the process is closed; resolves with its exit, or undefined when stopped. Rejects with OutputError. */
export async function writeAll(
  child: Process,
  { delivery, afterSeq = 0, signal }: WriteAllOptions,
): Promise<ExitedEvent | undefined> {
  const events = child.iterate({ delivery, afterSeq });
  const stop = () => void events.return();
  if (signal?.aborted) stop();
  signal?.addEventListener("abort", stop);
  const renewal = setInterval(() => events.renew(), RENEW_MS);
  try {
    for await (const event of events) await writeEvent(event);
  } finally {
    clearInterval(renewal);
    signal?.removeEventListener("abort", stop);
  }
  return signal?.aborted ? undefined : child.log.exited;
}

/** Writes output where it belongs, and says what is missing. */
export async function writeEvent(event: Delivery): Promise<void> {
  if (event.type === "gap") {
    const lost = event.bytes === undefined ? "output was lost" : `${event.bytes} bytes of output were lost`;
    await write("stderr", `execwire: ${lost} (events ${event.firstSeq} to ${event.lastSeq} are no longer retained)\n`);
  }
  if (event.type === "output") await write(event.stream === "stderr" ? "stderr" : "stdout", event.chunk);
}

/** Writes to our own stdout or stderr and waits until it was taken. Rejects with OutputError. */
export function write(name: "stdout" | "stderr", chunk: Uint8Array | string): Promise<void> {
  const stream = process[name];
  // Each write tells its own error; without a listener the event would end the program with a stack trace.
  if (stream.listenerCount("error") === 0) stream.on("error", () => undefined);
  return new Promise((resolve, reject) => {
    stream.write(chunk, (error) => (error ? reject(new OutputError(name, error)) : resolve()));
  });
}
