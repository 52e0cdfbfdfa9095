// The calls of a run to its process, on a backend that does not support all of them.
import { describe, expect, it } from "@jest/globals";
import { deliverInput, within } from "../../../../lib/exec/run/commands.ts";
import type { Process } from "../../../../lib/process/process.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

/** A process on which only these calls are made. */
const processWith = (calls: Partial<Process>) => calls as Process;

describe("the input of a run", () => {
  it("is written in pieces, and stops at the first piece that is not accepted", async () => {
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

describe("a result within a time limit", () => {
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
