// The info of a process never exceeds its limit in bytes, counts exactly what it omits, and is never charged less
// than its size on the wire.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { describeArgv, fitInfo, infoBytes } from "../../../lib/process/process-info.ts";
import { encode, limits, MIN_FRAME_BYTES, type ProcessInfo, utf8Bytes, utf8Prefix } from "../../../protocol/index.ts";
import { countBytes } from "../../../protocol/utf8.ts";

const text = fc.string({ unit: "binary", maxLength: 40 });

const info: fc.Arbitrary<ProcessInfo> = fc.record({
  processId: text,
  incarnation: fc.uuid(),
  state: fc.constantFrom("starting", "running", "exited", "closed", "removed"),
  argv: fc.array(text, { minLength: 1, maxLength: 20 }),
  cwd: text,
  tty: fc.boolean(),
  stdin: fc.boolean(),
  startedAt: fc.maxSafeNat(),
  exitCode: fc.option(fc.nat()),
  signal: fc.constantFrom(null, "SIGKILL"),
  sandbox: fc.constantFrom("none", "windowsRestrictedToken"),
  labels: fc.dictionary(text, text, { maxKeys: 5 }),
});

const frameOf = (process: ProcessInfo) => encode({ type: "change", process }).length;
const sizeOf = (argv: readonly string[]) => argv.reduce((sum, argument) => sum + Buffer.byteLength(argument), 0);

describe("the info of a process", () => {
  it("counts the encoded bytes of any text", () => {
    fc.assert(
      fc.property(text, (any) => {
        expect(countBytes(any)).toBe(Buffer.byteLength(any));
        expect(utf8Bytes(any.repeat(9))).toBe(Buffer.byteLength(any.repeat(9)));
      }),
    );
  });

  it("cuts a text at a whole character, as late as possible", () => {
    fc.assert(
      fc.property(text, fc.nat(60), (any, maxBytes) => {
        const prefix = utf8Prefix(any, maxBytes);
        const characters = [...any];
        const kept = [...prefix].length;
        expect(prefix).toBe(characters.slice(0, kept).join(""));
        expect(Buffer.byteLength(prefix)).toBeLessThanOrEqual(maxBytes);
        if (kept < characters.length) expect(Buffer.byteLength(prefix + characters[kept])).toBeGreaterThan(maxBytes);
      }),
    );
  });

  it("has at most the allowed bytes of arguments, and counts the rest", () => {
    fc.assert(
      fc.property(fc.array(text, { minLength: 1, maxLength: 30 }), fc.nat(400), (argv, maxBytes) => {
        const { argv: shown, argvOmitted } = describeArgv(argv, maxBytes);
        expect(sizeOf(shown)).toBeLessThanOrEqual(maxBytes);
        expect(shown.length + (argvOmitted?.arguments ?? 0)).toBe(argv.length);
        expect(sizeOf(shown) + (argvOmitted?.bytes ?? 0)).toBe(sizeOf(argv));
        expect(shown.slice(0, -1)).toEqual(argv.slice(0, shown.length - 1));
      }),
    );
  });

  it("omits an empty argument that no longer fits", () => {
    // An argument costs five bytes, so three are too few for another one.
    expect(describeArgv(["a", "", "b"], 9)).toEqual({ argv: ["a"], argvOmitted: { arguments: 2, bytes: 1 } });
  });

  it("has no more bytes in a frame than it is charged for", () => {
    fc.assert(fc.property(info, (any) => expect(frameOf(any)).toBeLessThanOrEqual(infoBytes(any) + 64)));
  });

  it("fits into a frame after it was shortened, and is unchanged if it fits", () => {
    const oversize = info.map((any) => ({ ...any, argv: [...any.argv, "x".repeat(3_000)] }));
    fc.assert(
      fc.property(oversize, fc.integer({ min: 800, max: 8_000 }), (any, maxBytes) => {
        const fitting = fitInfo(any, maxBytes);
        expect(infoBytes(fitting)).toBeLessThanOrEqual(maxBytes);
        if (infoBytes(any) <= maxBytes) expect(fitting).toBe(any);
        else expect(sizeOf(fitting.argv) + (fitting.argvOmitted?.bytes ?? 0)).toBe(sizeOf(any.argv));
        expect(Object.keys(fitting.labels).length + (fitting.labelsOmitted ?? 0)).toBe(Object.keys(any.labels).length);
      }),
    );
  });

  it("fits into the smallest frame even if everything is as long as the limits allow", () => {
    const { processIdChars, labels, labelBytes, pathBytes, infoArgvBytes } = limits;
    const names = Array.from({ length: labels }, (_, index) => `${index}`);
    const rest = labelBytes - names.join("").length;
    const largest: ProcessInfo = {
      processId: "€".repeat(processIdChars),
      incarnation: "€".repeat(64),
      state: "running",
      ...describeArgv(
        Array.from({ length: 10_000 }, () => "€"),
        infoArgvBytes,
      ),
      cwd: "/".repeat(pathBytes),
      tty: true,
      stdin: true,
      pid: 2 ** 31,
      startedAt: Date.now(),
      exitCode: null,
      signal: "SIGVTALRM",
      sandbox: "windowsRestrictedToken",
      labels: Object.fromEntries(names.map((name, index) => [name, index === 0 ? "v".repeat(rest) : ""])),
    };
    expect(frameOf(largest)).toBeLessThan(MIN_FRAME_BYTES);
    expect(fitInfo(largest, MIN_FRAME_BYTES - 256)).toBe(largest);
  });
});
