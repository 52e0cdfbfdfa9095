// Waits for a state that the operating system announces by no event, such as the end of another program's child.
import { setTimeout as pause } from "node:timers/promises";

const LOOK_AGAIN_MS = 20;

/** The first value of `look` that passes `test`; after the deadline the last one, for `expect` to show. */
export async function settled<T>(
  look: () => T | Promise<T>,
  test: (value: T) => boolean,
  deadlineMs = 10_000,
): Promise<T> {
  const end = Date.now() + deadlineMs;
  let value = await look();
  while (!test(value) && Date.now() < end) {
    await pause(LOOK_AGAIN_MS);
    value = await look();
  }
  return value;
}
