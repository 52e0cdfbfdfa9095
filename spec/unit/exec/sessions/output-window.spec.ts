// What an answer shows: every byte once, or counted as omitted, for all sizes of chunks and budgets, and no broken characters.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { OutputWindow, type Partials } from "../../../../lib/exec/sessions/output-window.ts";
import { runs } from "../../../support/fuzz.ts";

const encode = (text: string) => new TextEncoder().encode(text);
const bytesOf = (...texts: string[]) => texts.reduce((sum, text) => sum + encode(text).length, 0);
const sizeOf = (partials: Partials) => [...partials.values()].reduce((sum, { length }) => sum + length, 0);

describe("an output window", () => {
  it("shows everything as head when it fits", () => {
    const window = new OutputWindow(10);
    window.add("stdout", encode("01234"));
    window.add("stderr", encode("56789"));
    expect(window.finish(true)).toMatchObject({ head: "0123456789", tail: "", omittedBytes: 0, isExact: true });
  });

  it("omits the middle when the output does not fit", () => {
    const window = new OutputWindow(4);
    for (const digit of "0123456789") window.add("stdout", encode(digit));
    expect(window.finish(true)).toMatchObject({ head: "01", tail: "89", omittedBytes: 6 });
  });

  it("cuts between characters, and counts the omitted bytes", () => {
    const window = new OutputWindow(8);
    window.add("stdout", encode("€€€€€"));
    expect(window.finish(true)).toMatchObject({ head: "€", tail: "€", omittedBytes: 9 });
  });

  it("has one hole for omitted output: a loss ends the head and begins the tail", () => {
    const window = new OutputWindow(10);
    window.add("stdout", encode("ab"));
    window.lose(100);
    window.add("stdout", encode("0123456789"));
    expect(window.finish(true)).toMatchObject({ head: "ab", tail: "23456789", omittedBytes: 102, isExact: true });
  });

  it("drops the output between the head and a loss, and between two losses", () => {
    const window = new OutputWindow(8);
    window.add("stdout", encode("abcdef"));
    window.lose(1);
    window.add("stdout", encode("xyz"));
    window.lose(1);
    window.add("stdout", encode("01"));
    expect(window.finish(true)).toMatchObject({ head: "abcd", tail: "01", omittedBytes: 7 });
  });

  it("counts half a character before a loss, and does not join it with the bytes after the loss", () => {
    const window = new OutputWindow(10);
    window.add("stdout", encode("a€").subarray(0, 3));
    window.lose(5);
    window.add("stdout", encode("b"));
    expect(window.finish(true)).toMatchObject({ head: "a", tail: "b", omittedBytes: 7 });
  });

  it("reports that it does not know how much was lost", () => {
    const window = new OutputWindow(8);
    window.lose(undefined);
    window.add("stdout", encode("x"));
    expect(window.finish(true)).toMatchObject({ head: "", tail: "x", omittedBytes: 0, isExact: false });
  });

  it("ignores a loss of zero bytes", () => {
    const window = new OutputWindow(8);
    window.add("stdout", encode("ab"));
    window.lose(0);
    window.add("stdout", encode("cd"));
    expect(window.finish(true)).toMatchObject({ head: "abcd", tail: "", omittedBytes: 0 });
  });

  it("can show nothing and count all bytes", () => {
    const window = new OutputWindow(0);
    window.add("stdout", encode("abc"));
    expect(window.finish(true)).toMatchObject({ head: "", tail: "", omittedBytes: 3 });
  });

  it("shows invalid text as replacement characters, and keeps a byte order mark", () => {
    const window = new OutputWindow(100);
    window.add("stdout", Uint8Array.of(0xef, 0xbb, 0xbf, 0xff, 0x41, 0xc0, 0x80));
    expect(window.finish(true).head).toBe("\ufeff\ufffdA\ufffd\ufffd");
  });

  const event = fc.oneof(
    { weight: 5, arbitrary: fc.record({ stream: fc.constantFrom("stdout", "stderr"), at: fc.nat(12) }) },
    { weight: 1, arbitrary: fc.record({ lost: fc.nat(50) }) },
    { weight: 1, arbitrary: fc.constant("answer" as const) },
  );

  it("shows or counts every byte exactly once, over any number of answers", () => {
    const property = fc.property(
      fc.string({ unit: fc.constantFrom("a", "\n", "ü", "€", "😀"), maxLength: 60 }),
      fc.string({ unit: fc.constantFrom("b", "ä", "漢", "🎉"), maxLength: 60 }),
      fc.nat(40),
      fc.array(event, { maxLength: 40 }),
      (stdout, stderr, budget, events) => {
        const rest = { stdout: encode(stdout), stderr: encode(stderr) };
        let partials: Partials = new Map();
        let window = new OutputWindow(budget);
        let [shown, omitted, lost] = [0, 0, 0];
        const answer = (isEnd: boolean) => {
          const { head, tail, omittedBytes, partials: next } = window.finish(isEnd);
          expect(`${head}${tail}`).not.toContain("\ufffd");
          expect(bytesOf(head, tail)).toBeLessThanOrEqual(budget);
          shown += bytesOf(head, tail);
          omitted += omittedBytes;
          partials = next;
          window = new OutputWindow(budget, partials);
        };
        const take = (stream: "stdout" | "stderr", count: number) => {
          window.add(stream, rest[stream].subarray(0, count));
          rest[stream] = rest[stream].subarray(count);
        };
        for (const step of events) {
          if (step === "answer") answer(false);
          // A loss within a character leaves invalid text after it; here valid text follows.
          else if ("lost" in step && sizeOf(partials) === 0) lose(step.lost);
          else if ("stream" in step) take(step.stream as "stdout" | "stderr", step.at);
        }
        function lose(bytes: number): void {
          for (const stream of ["stdout", "stderr"] as const) {
            let count = 0;
            while (count < rest[stream].length && ((rest[stream][count] as number) & 0xc0) === 0x80) count += 1;
            take(stream, count);
          }
          window.lose(bytes);
          lost += bytes;
        }
        take("stdout", rest.stdout.length);
        take("stderr", rest.stderr.length);
        answer(true);
        expect(shown + omitted).toBe(bytesOf(stdout, stderr) + lost);
      },
    );
    fc.assert(property, runs(500));
  });

  it("shows the same text as one decoder of the whole stream when nothing is omitted, however it is chunked", () => {
    const property = fc.property(fc.uint8Array({ maxLength: 40 }), fc.array(fc.nat(6)), (bytes, sizes) => {
      const window = new OutputWindow(1_000);
      let at = 0;
      for (const size of sizes) {
        window.add("stdout", bytes.subarray(at, at + size));
        at += size;
      }
      window.add("stdout", bytes.subarray(at));
      expect(window.finish(true).head).toBe(new TextDecoder("utf-8", { ignoreBOM: true }).decode(bytes));
    });
    fc.assert(property, runs(500));
  });
});
