// The pauses between reconnect attempts.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { backoff } from "../../../lib/client/backoff.ts";
import { runs } from "../../support/fuzz.ts";

function take(count: number, pauses: Iterator<number>): number[] {
  return Array.from({ length: count }, () => pauses.next().value as number);
}

describe("the pauses between reconnect attempts", () => {
  it("double from the first up to the last", () => {
    expect(
      take(
        6,
        backoff(50, 600, () => 1),
      ),
    ).toEqual([50, 100, 200, 400, 600, 600]);
  });

  it("are shortened by a random share of up to one half, so that clients do not reconnect all at once", () => {
    expect(
      take(
        3,
        backoff(50, 600, () => 0),
      ),
    ).toEqual([25, 50, 100]);
    expect(
      take(
        3,
        backoff(50, 600, () => 0.5),
      ),
    ).toEqual([37.5, 75, 150]);
  });

  it("are never longer than the longest pause nor shorter than half of the first", () => {
    const bounds = fc.integer({ min: 1, max: 10_000 });
    const random = fc.infiniteStream(fc.double({ min: 0, max: 1, maxExcluded: true, noNaN: true }));
    fc.assert(
      fc.property(bounds, bounds, random, (a, b, values) => {
        const [first, last] = [Math.min(a, b), Math.max(a, b)];
        const pauses = take(
          40,
          backoff(first, last, () => values.next().value as number),
        );
        expect(Math.min(...pauses)).toBeGreaterThanOrEqual(first / 2);
        expect(Math.max(...pauses)).toBeLessThanOrEqual(last);
        expect(pauses.at(-1)).toBeGreaterThanOrEqual(last / 2);
      }),
      runs(100),
    );
  });
});
