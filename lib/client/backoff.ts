// The pauses between attempts to come back: doubled each time, and random by half, so that the clients of a server that
// comes back do not come all at once.

/** Endless pauses in milliseconds. */
export function* backoff(
  firstMs: number,
  lastMs: number,
  random: () => number = Math.random,
): Generator<number, never> {
  for (let pause = firstMs; ; pause = Math.min(pause * 2, lastMs)) yield pause * (0.5 + random() / 2);
}
