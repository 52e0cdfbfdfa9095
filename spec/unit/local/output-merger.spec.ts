// Merging tiny chunks: a single chunk does not wait, and the order stays.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { OutputMerger } from "../../../lib/local/output-merger.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { runs } from "../../support/fuzz.ts";

const OPTIONS = { mergeWindowMs: 1, unfollowedMergeWindowMs: 100, mergeBelowBytes: 8, chunkBytes: 10 };
type Stream = "stdout" | "stderr";

class Merging {
  readonly clock = new FakeClock();
  readonly appended: string[] = [];
  readonly merger: OutputMerger;
  isFollowed = true;

  constructor() {
    this.merger = new OutputMerger(this, () => this.merger.windowOver(), this.clock, OPTIONS);
  }

  appendOutput(stream: string, chunk: Uint8Array): void {
    this.appended.push(`${stream}:${Buffer.from(chunk)}`);
  }

  add(text: string, stream: Stream = "stdout"): void {
    this.merger.add(stream, Buffer.from(text));
  }
}

describe("an output merger", () => {
  it("passes on the first chunk at once and merges those that follow within the window", () => {
    const { merger, appended, clock } = new Merging();
    merger.add("stdout", Buffer.from("a"));
    expect(appended).toEqual(["stdout:a"]);
    merger.add("stdout", Buffer.from("b"));
    merger.add("stdout", Buffer.from("c"));
    expect(appended).toEqual(["stdout:a"]);
    clock.advance(1);
    expect(appended).toEqual(["stdout:a", "stdout:bc"]);
  });

  it("keeps merging while output keeps coming, and does not delay after a pause", () => {
    const merging = new Merging();
    merging.add("a");
    merging.add("b");
    merging.clock.advance(1);
    merging.add("c");
    expect(merging.appended).toEqual(["stdout:a", "stdout:b"]);
    merging.clock.advance(1);
    merging.clock.advance(1);
    merging.add("d");
    expect(merging.appended).toEqual(["stdout:a", "stdout:b", "stdout:c", "stdout:d"]);
  });

  it("waits longer, and for larger chunks, while the log has no follower", () => {
    const merging = new Merging();
    merging.isFollowed = false;
    merging.add("a");
    merging.add("12345678");
    merging.clock.advance(99);
    merging.add("b");
    expect(merging.appended).toEqual(["stdout:a"]);
    merging.clock.advance(1);
    expect(merging.appended).toEqual(["stdout:a", "stdout:12345678b"]);
  });

  it("keeps the order between the streams", () => {
    const merging = new Merging();
    merging.add("a");
    merging.add("b");
    merging.add("E", "stderr");
    merging.add("c");
    merging.clock.advance(1);
    expect(merging.appended).toEqual(["stdout:a", "stdout:b", "stderr:E", "stdout:c"]);
  });

  it("passes on a large chunk at once, after the pending bytes", () => {
    const merging = new Merging();
    merging.add("a");
    merging.add("b");
    merging.add("12345678");
    expect(merging.appended).toEqual(["stdout:a", "stdout:b", "stdout:12345678"]);
  });

  it("holds at most the bytes of one chunk", () => {
    const merging = new Merging();
    merging.add("a");
    merging.add("12345");
    merging.add("67890");
    merging.add("x");
    expect(merging.appended).toEqual(["stdout:a", "stdout:1234567890"]);
  });

  it("passes on pending bytes when flushed, and stops its timer when closed", () => {
    const merging = new Merging();
    merging.add("a");
    merging.add("b");
    merging.merger.flush();
    merging.add("c");
    merging.merger.endWindow();
    expect(merging.appended).toEqual(["stdout:a", "stdout:b", "stdout:c"]);
    expect(merging.clock.armed).toBe(0);
  });

  it("leaves no timer behind when nothing follows", () => {
    const merging = new Merging();
    merging.add("a");
    merging.clock.advance(1);
    expect(merging.clock.armed).toBe(0);
  });

  it("changes neither bytes nor order, and holds nothing longer than the window", () => {
    const add = fc.record({
      stream: fc.constantFrom<Stream>("stdout", "stderr"),
      size: fc.integer({ min: 1, max: 12 }),
      waitMs: fc.constantFrom(0, 0, 0.5, 1, 2),
    });
    fc.assert(
      fc.property(fc.array(add), (adds) => {
        const merging = new Merging();
        let printed = "";
        for (const [index, { stream, size, waitMs }] of adds.entries()) {
          const text = String.fromCharCode(97 + (index % 26)).repeat(size);
          merging.add(text, stream);
          printed += [...text].map((letter) => `${stream}${letter}`).join("");
          merging.clock.advance(waitMs);
          if (waitMs >= OPTIONS.mergeWindowMs) expect(perByte(merging.appended)).toBe(printed);
        }
        merging.merger.endWindow();
        expect(perByte(merging.appended)).toBe(printed);
      }),
      runs(100),
    );
  });
});

/** Each byte with its stream, so that borders between chunks do not matter. */
function perByte(appended: readonly string[]): string {
  return appended
    .map((entry) => {
      const [stream = "", text = ""] = entry.split(":");
      return [...text].map((letter) => `${stream}${letter}`).join("");
    })
    .join("");
}
