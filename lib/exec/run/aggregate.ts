// Combines both streams of a command, stdout first, within one bound. When they do not fit, errors are worth more than output:
// stdout gets a third, stderr two thirds, and stdout also gets what stderr does not need.
import { concat, type Excerpt } from "../head-tail.ts";

/** The excerpts of the two streams that fit. */
export interface Aggregate {
  readonly stdout: Excerpt;
  readonly stderr: Excerpt;
}

/** Shortens the two so that together they have at most `capBytes`, and exactly `capBytes` if anything is left out. */
export function aggregate(stdout: Excerpt, stderr: Excerpt, capBytes: number): Aggregate {
  const [out, err] = [keptBytes(stdout), keptBytes(stderr)];
  if (out + err <= capBytes) return { stdout, stderr };
  const reserved = Math.min(out, Math.floor(capBytes / 3));
  const errShare = Math.min(err, capBytes - reserved);
  const outShare = Math.min(out, capBytes - errShare);
  return { stdout: shorten(stdout, outShare), stderr: shorten(stderr, errShare) };
}

/** Shortens an excerpt to its first and its last bytes; the first half is the larger one. */
export function shorten(excerpt: Excerpt, capBytes: number): Excerpt {
  const kept = keptBytes(excerpt);
  if (kept <= capBytes) return excerpt;
  const omittedBytes = excerpt.omittedBytes + kept - capBytes;
  const half = Math.ceil(capBytes / 2);
  let { head, tail } = excerpt;
  let front = Math.min(head.length, Math.max(half, capBytes - tail.length));
  // Without a hole, head and tail are one segment that may be cut anywhere.
  if (excerpt.omittedBytes === 0) {
    head = tail = concat([head, tail]);
    front = half;
  }
  return { head: head.subarray(0, front), tail: tail.subarray(tail.length - (capBytes - front)), omittedBytes };
}

/** The number of bytes in an excerpt. */
export function keptBytes({ head, tail }: Excerpt): number {
  return head.length + tail.length;
}
