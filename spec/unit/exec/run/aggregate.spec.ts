// Two streams in one bound: their shares, by the examples of the Codex exec-server and by properties.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { concat, type Excerpt, HeadTail } from "../../../../lib/exec/head-tail.ts";
import { aggregate, keptBytes, shorten } from "../../../../lib/exec/run/aggregate.ts";
import { runs } from "../../../support/fuzz.ts";

const CAP = 1024 * 1024;
const EMPTY = new Uint8Array();

const whole = (bytes: Uint8Array): Excerpt => ({ head: bytes, tail: EMPTY, omittedBytes: 0 });
const filled = (length: number, letter: string) => whole(Buffer.alloc(length, letter));
const sizes = ({ stdout, stderr }: { stdout: Excerpt; stderr: Excerpt }) => [keptBytes(stdout), keptBytes(stderr)];

const excerpts = fc.tuple(fc.uint8Array({ maxLength: 80 }), fc.integer({ min: 0, max: 60 })).map(([bytes, cap]) => {
  const kept = new HeadTail(cap);
  kept.push(bytes);
  return kept.excerpt();
});

describe("the aggregate of stdout and stderr", () => {
  it("is stdout, then stderr, when both fit", () => {
    const [stdout, stderr] = [filled(4, "a"), filled(3, "b")];
    expect(aggregate(stdout, stderr, CAP)).toEqual({ stdout, stderr });
  });

  it("is everything if there is no bound", () => {
    expect(sizes(aggregate(filled(CAP, "a"), filled(CAP, "b"), Number.POSITIVE_INFINITY))).toEqual([CAP, CAP]);
  });

  it("gives a third to stdout and two thirds to stderr when both have too much", () => {
    const third = Math.floor(CAP / 3);
    expect(sizes(aggregate(filled(CAP, "a"), filled(CAP, "b"), CAP))).toEqual([third, CAP - third]);
  });

  it("gives stderr the room that a small stdout leaves", () => {
    const small = Math.floor(CAP / 10);
    expect(sizes(aggregate(filled(small, "a"), filled(CAP, "b"), CAP))).toEqual([small, CAP - small]);
  });

  it("gives stdout the room that stderr does not need", () => {
    expect(sizes(aggregate(filled(CAP, "a"), filled(1, "b"), CAP))).toEqual([CAP - 1, 1]);
  });

  it("fills the bound exactly if something must be omitted, counts it, and gives each stream at least its share", () => {
    fc.assert(
      fc.property(excerpts, excerpts, fc.integer({ min: 0, max: 90 }), (stdout, stderr, cap) => {
        const before = keptBytes(stdout) + keptBytes(stderr);
        const both = aggregate(stdout, stderr, cap);
        const [out, err] = sizes(both) as [number, number];
        expect(out + err).toBe(Math.min(cap, before));
        expect(both.stdout.omittedBytes + both.stderr.omittedBytes).toBe(
          stdout.omittedBytes + stderr.omittedBytes + before - out - err,
        );
        expect(out).toBeGreaterThanOrEqual(Math.min(keptBytes(stdout), Math.floor(cap / 3)));
        expect(err).toBeGreaterThanOrEqual(Math.min(keptBytes(stderr), cap - Math.floor(cap / 3)));
      }),
      runs(100),
    );
  });

  it("shortens kept output to its beginning and end, with one hole that only grows", () => {
    fc.assert(
      fc.property(excerpts, fc.integer({ min: 0, max: 90 }), (excerpt, cap) => {
        const { head, tail, omittedBytes } = shorten(excerpt, cap);
        const all = concat([excerpt.head, excerpt.tail]);
        expect([...head]).toEqual([...all.subarray(0, head.length)]);
        expect([...tail]).toEqual([...all.subarray(all.length - tail.length)]);
        expect(head.length + tail.length + omittedBytes).toBe(all.length + excerpt.omittedBytes);
        // Bytes after the hole are never joined to bytes before it.
        if (excerpt.omittedBytes > 0) {
          expect(head.length).toBeLessThanOrEqual(excerpt.head.length);
          expect(tail.length).toBeLessThanOrEqual(excerpt.tail.length);
        }
      }),
      runs(100),
    );
  });
});
