// Requests of a run to its process, with fallbacks for backends that do not support all of them.
import type { PipeHolder } from "../../../protocol/index.ts";
import type { Cancel, Clock } from "../../clock.ts";
import type { Process } from "../../process/process.ts";

/** The largest write: well below the frame limit, and half of what a stdin queue accepts in advance. */
const WRITE_BYTES = 256 * 1024;

/** The processes that hold the streams; undefined if the backend cannot list them. */
export async function holdersOf(process: Process): Promise<readonly PipeHolder[] | undefined> {
  return process.holders().catch(() => undefined);
}

/** Writes all of stdin and closes it. It is no error if the process stops reading. */
export async function deliverInput(process: Process, input: string | Uint8Array): Promise<void> {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  for (let start = 0; start < bytes.length; start += WRITE_BYTES) {
    const status = await process.write(bytes.subarray(start, start + WRITE_BYTES));
    if (status !== "accepted") return;
  }
  await process.closeStdin();
}

/** Resolves with the answer, or with undefined if it fails or takes longer than `ms`. */
export function within<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T | undefined> {
  let cancel: Cancel | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    cancel = clock.after(ms, () => resolve(undefined));
  });
  return Promise.race([answer.catch(() => undefined), tooLate]).finally(() => cancel?.());
}
