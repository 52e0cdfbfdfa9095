// Both streams of a command in one value within one bound: stdout, then stderr. When they do not fit, errors are worth more
// than output: a third for stdout, two thirds for stderr, and what stderr does not need goes back to stdout.
import { concat, type Excerpt } from "./head-tail.ts";

/** The two streams, as they go into an aggregate. */
export interface Aggregate {
  readonly stdout: Excerpt;
  readonly stderr: Excerpt;
}

/** Shortens the two so that together they have at most `capBytes`, and exactly that many where something must go. */
export function aggregate(stdout: Excerpt, stderr: Excerpt, capBytes: number): Aggregate {
  const [out, err] = [keptBytes(stdout), keptBytes(stderr)];
  if (out + err <= capBytes) return { stdout, stderr };
  const reserved = Math.min(out, Math.floor(capBytes / 3));
  const errShare = Math.min(err, capBytes - reserved);
  const outShare = Math.min(out, capBytes - errShare);
  return { stdout: shorten(stdout, outShare), stderr: shorten(stderr, errShare) };
}

/** An excerpt of an excerpt: its first and its last bytes, the larger half in front. */
export function shorten(excerpt: Excerpt, capBytes: number): Excerpt {
  const kept = keptBytes(excerpt);
  if (kept <= capBytes) return excerpt;
  const omittedBytes = excerpt.omittedBytes + kept - capBytes;
  const half = Math.ceil(capBytes / 2);
  let { head, tail } = excerpt;
  let front = Math.min(head.length, Math.max(half, capBytes - tail.length));
  // Without a hole the two are one stretch, which may be cut anywhere.
  if (excerpt.omittedBytes === 0) {
    head = tail = concat([head, tail]);
    front = half;
  }
  return { head: head.subarray(0, front), tail: tail.subarray(tail.length - (capBytes - front)), omittedBytes };
}

/** Bytes of an excerpt. */
export function keptBytes({ head, tail }: Excerpt): number {
  return head.length + tail.length;
}
