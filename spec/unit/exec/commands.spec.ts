// What a run asks of its process, where a backend does not do all of it.
import { describe, expect, it } from "@jest/globals";
import { deliverInput, within } from "../../../lib/exec/commands.ts";
import type { Process } from "../../../lib/process/process.ts";
import { FakeClock } from "../../support/fake-clock.ts";

/** A process of which only these calls are made. */
const processWith = (calls: Partial<Process>) => calls as Process;

describe("input", () => {
  it("goes in pieces, and ends with the first that is not taken", async () => {
    const sizes: number[] = [];
    const process = processWith({
      write: async (chunk) => {
        sizes.push(chunk.length);
        return sizes.length < 3 ? "accepted" : "stdinClosed";
      },
      closeStdin: () => Promise.reject(new Error("there is nothing left to close")),
    });
    await deliverInput(process, new Uint8Array(1024 * 1024));
    expect(sizes).toEqual([256 * 1024, 256 * 1024, 256 * 1024]);
  });
});

describe("an answer within a time", () => {
  it("is undefined when it fails or comes too late, and leaves no timer behind", async () => {
    const clock = new FakeClock();
    expect(await within(clock, 10, Promise.resolve(5))).toBe(5);
    expect(await within(clock, 10, Promise.reject(new Error("no")))).toBeUndefined();
    const late = within(clock, 10, new Promise(() => undefined));
    clock.advance(10);
    expect(await late).toBeUndefined();
    expect(clock.armed).toBe(0);
  });
});
