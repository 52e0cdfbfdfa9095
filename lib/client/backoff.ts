// Pauses between reconnect attempts: exponential backoff with jitter, so that the clients of a restarted server do not
// reconnect all at once.

/** Endless pauses in milliseconds: doubled up to `lastMs`, each then shortened by a random share of up to one half. */
export function* backoff(
  firstMs: number,
  lastMs: number,
  random: () => number = Math.random,
): Generator<number, never> {
  for (let pause = firstMs; ; pause = Math.min(pause * 2, lastMs)) yield pause * (0.5 + random() / 2);
}
