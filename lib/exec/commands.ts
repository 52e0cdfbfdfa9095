// What a run asks of its process, with an answer for backends that cannot do all of it.
import type { PipeHolder } from "../../protocol/index.ts";
import type { Cancel, Clock } from "../clock.ts";
import type { Process } from "../process/process.ts";

/** A write at most: well below what a frame may carry, and half of what a queue takes ahead. */
const WRITE_BYTES = 256 * 1024;

/** Who holds the streams; undefined where nobody can tell. */
export async function holdersOf(process: Process): Promise<readonly PipeHolder[] | undefined> {
  return process.holders().catch(() => undefined);
}

/** Writes all of stdin and closes it. A process that wants no more of it is no error. */
export async function deliverInput(process: Process, input: string | Uint8Array): Promise<void> {
  const bytes = typeof input === "string" ? new TextEncoder().encode(input) : input;
  for (let start = 0; start < bytes.length; start += WRITE_BYTES) {
    const status = await process.write(bytes.subarray(start, start + WRITE_BYTES));
    if (status !== "accepted") return;
  }
  await process.closeStdin();
}

/** The answer, or undefined when it fails or takes too long. */
export function within<T>(clock: Clock, ms: number, answer: Promise<T>): Promise<T | undefined> {
  let cancel: Cancel | undefined;
  const tooLate = new Promise<undefined>((resolve) => {
    cancel = clock.after(ms, () => resolve(undefined));
  });
  return Promise.race([answer.catch(() => undefined), tooLate]).finally(() => cancel?.());
}
