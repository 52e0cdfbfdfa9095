// Long-poll read: returns at once when there is news, otherwise waits for output, exit or end.
import { expect, it } from "@jest/globals";
import type { Process } from "../../lib/process/process.ts";
import type { ReadResult } from "../../protocol/index.ts";
import { end, exitOf, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { gap, output, seen } from "../support/transcript.ts";
import { endDetached, numbersIn } from "../support/trees.ts";
import { describeBackends } from "./backends.ts";

const LONG_MS = 15_000;

/** Prints each line of input without its newline; ends at a line with a dot. */
const repeater = sh('while read -r line && [ "$line" != . ]; do printf %s "$line"; done; exit 4');

function answer(facts: Partial<ReadResult>): ReadResult {
  return {
    chunks: [],
    nextSeq: 1,
    exited: false,
    exitCode: null,
    signal: null,
    closed: false,
    sandboxDenied: false,
    ...facts,
  };
}

/** Makes the repeater print each word as a chunk of its own. */
async function say(process: Process, ...words: readonly string[]): Promise<void> {
  for (const word of words) {
    await process.write(`${word}\n`);
    await printed(process, word);
  }
}

function inShort({ chunks, nextSeq }: ReadResult): unknown[] {
  return [...chunks.map(({ chunk }) => Buffer.from(chunk).toString()), nextSeq];
}

describeBackends("reading", ({ needs, start }) => {
  const repeat = () => start({ argv: repeater, pipeStdin: true });

  it("returns an empty result at once when there is no news and no waitMs", async () => {
    expect(await (await repeat()).read()).toEqual(answer({}));
  });

  it("returns an empty result when waitMs is over", async () => {
    expect(await (await repeat()).read({ waitMs: 30 })).toEqual(answer({}));
  });

  it("returns the chunks after afterSeq, with the next seq", async () => {
    const process = await repeat();
    await say(process, "one", "two", "three");
    const result = await process.read({ afterSeq: 1 });
    expect(result.chunks.map(seen)).toEqual([output(2, "stdout", "two"), output(3, "stdout", "three")]);
    expect({ ...result, chunks: [] }).toEqual(answer({ nextSeq: 4 }));
    expect(inShort(await process.read({ afterSeq: 3 }))).toEqual([4]);
  });

  it("ends its wait when output arrives", async () => {
    const process = await repeat();
    const waiting = process.read({ waitMs: LONG_MS });
    await process.write("hello\n");
    expect(inShort(await waiting)).toEqual(["hello", 2]);
  });

  it("ends its wait at the exit, and waits again when afterSeq is behind it", async () => {
    // A background job keeps stdout open, so that the process does not close with its exit.
    const process = await start({ argv: sh("sleep 1000 & echo $!; read _; exit 4"), pipeStdin: true });
    const job = numbersIn(await printed(process, "\n"));
    const waiting = process.read({ afterSeq: 1, waitMs: LONG_MS });
    await process.write("\n");
    const facts = { nextSeq: 3, exited: true, exitCode: 4 };
    expect(await waiting).toEqual(answer(facts));
    expect(await process.read({ afterSeq: 1, waitMs: LONG_MS })).toEqual(answer(facts));
    // With afterSeq at the exit, a read waits for late output.
    expect(await process.read({ afterSeq: 2, waitMs: 30 })).toEqual(answer(facts));
    await endDetached(...job);
    expect(await process.read({ afterSeq: 2, waitMs: LONG_MS })).toMatchObject({ nextSeq: 4, closed: true });
  });

  it("ends its wait at the end, and never waits after it", async () => {
    const process = await repeat();
    await say(process, "last");
    const waiting = process.read({ afterSeq: 2, waitMs: LONG_MS });
    await process.write(".\n");
    const over = answer({ nextSeq: 4, exited: true, exitCode: 4, closed: true });
    expect(await waiting).toEqual(over);
    expect(await process.read({ afterSeq: 3, waitMs: LONG_MS })).toEqual(over);
    expect(await process.read({ afterSeq: 99, waitMs: LONG_MS })).toEqual(over);
    expect(inShort(await process.read())).toEqual(["last", 4]);
  });

  it("returns whole chunks up to maxBytes, but at least one", async () => {
    const process = await repeat();
    await say(process, "aaaa", "bbbb", "cccc");
    expect(inShort(await process.read({ maxBytes: 8 }))).toEqual(["aaaa", "bbbb", 3]);
    expect(inShort(await process.read({ maxBytes: 11 }))).toEqual(["aaaa", "bbbb", 3]);
    expect(inShort(await process.read({ maxBytes: 1 }))).toEqual(["aaaa", 2]);
    expect(inShort(await process.read({ maxBytes: 0, afterSeq: 1 }))).toEqual(["bbbb", 3]);
    expect(inShort(await process.read({ maxBytes: 1, afterSeq: 3 }))).toEqual([4]);
  });

  it("serves many readers at different positions at once", async () => {
    const process = await repeat();
    await say(process, "one", "two");
    const waiting = [0, 1, 2].map((afterSeq) => process.read({ afterSeq, waitMs: LONG_MS }));
    await process.write("three\n");
    const answers = await Promise.all(waiting);
    expect(answers.map(inShort)).toEqual([
      ["one", "two", 3],
      ["two", 3],
      ["three", 4],
    ]);
  });

  needs("signals", "reportsSignals")("reports an exit by a signal without an exit code", async () => {
    const process = await repeat();
    await process.signal("SIGKILL");
    await end(process);
    const expected = answer({ nextSeq: 3, exited: true, signal: "SIGKILL", closed: true });
    expect(await process.read({ afterSeq: 2 })).toEqual(expected);
  });
});

describeBackends(
  "reading a log of 4,000 bytes",
  ({ start }) => {
    /** Prints a thousand bytes for each line of input; ends at a dot. */
    const thousands = sh('while read -r line && [ "$line" != . ]; do printf %1000s; done');

    it("returns the exact gap, and then the retained chunks", async () => {
      const process = await start({ argv: thousands, pipeStdin: true });
      for (let afterSeq = 0; afterSeq < 10; afterSeq += 1) {
        await process.write("\n");
        await process.read({ afterSeq, waitMs: LONG_MS });
      }
      const kept = [7, 8, 9, 10];
      const result = await process.read();
      expect(result.gap).toEqual(gap(1, 6, 6000));
      expect(result.chunks.map(({ seq, chunk }) => [seq, chunk.length])).toEqual(kept.map((seq) => [seq, 1000]));
      expect(result.nextSeq).toBe(11);
      expect((await process.read({ afterSeq: 5, maxBytes: 1 })).gap).toMatchObject({ firstSeq: 6, lastSeq: 6 });
      expect((await process.read({ afterSeq: 6 })).gap).toBeUndefined();
      await process.write(".\n");
      await exitOf(process);
    });
  },
  { retainedBytes: 4000 },
);
