// Waits for a state that the operating system announces with no event, such as the end of somebody else's child.
import { setTimeout as pause } from "node:timers/promises";

const LOOK_AGAIN_MS = 20;

/** The first value of `look` that passes `test`; the last one seen when the deadline is over, for `expect` to show. */
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
