// The long-poll read, rule by rule as in exec_read of the Codex exec-server, on a fake clock.
import { describe, expect, it } from "@jest/globals";
import { read } from "../../../lib/log/read.ts";
import { ReplayLog, type ReplayLogOptions } from "../../../lib/log/replay-log.ts";
import type { ReadOptions, ReadResult } from "../../../protocol/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { cancelled, exit, print } from "../../support/log-writing.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { gap, output, seen } from "../../support/transcript.ts";

const RUNNING = { exited: false, exitCode: null, signal: null, closed: false, sandboxDenied: false };

class Reading {
  readonly clock = new FakeClock();
  readonly log: ReplayLog;

  constructor(options: ReplayLogOptions, ...texts: string[]) {
    this.log = new ReplayLog(options);
    for (const text of texts) print(this.log, text);
  }

  /** The result so far: undefined while the read waits. */
  async ask(options: ReadOptions): Promise<() => Promise<unknown>> {
    let answer: unknown;
    read(this.log, options, this.clock).then(
      (result) => {
        answer = plain(result);
      },
      (error) => {
        answer = error;
      },
    );
    return async () => {
      await nextTurn();
      return answer;
    };
  }
}

function plain({ chunks, ...rest }: ReadResult) {
  return { chunks: chunks.map(seen), ...rest };
}

const reading = (...texts: string[]) => new Reading({}, ...texts);

describe("a long-poll read", () => {
  it("returns all chunks after the seq, and the next seq that the log will use", async () => {
    const { log, clock } = reading("a", "b", "c");
    const chunks = [output(2, "stdout", "b"), output(3, "stdout", "c")];
    expect(plain(await read(log, { afterSeq: 1 }, clock))).toEqual({ chunks, nextSeq: 4, ...RUNNING });
  });

  it("counts events without output in nextSeq, too", async () => {
    const { log, clock } = reading("a");
    exit(log);
    const { nextSeq, chunks } = await read(log, {}, clock);
    expect([nextSeq, chunks.length]).toEqual([3, 1]);
  });

  it.each([
    [0, ["aa"], 2],
    [1, ["aa"], 2],
    [2, ["aa"], 2],
    [4, ["aa"], 2],
    [5, ["aa", "bbb"], 3],
    [7, ["aa", "bbb"], 3],
    [9, ["aa", "bbb", "cccc"], 4],
    [100, ["aa", "bbb", "cccc"], 4],
  ])(
    "returns whole chunks with maxBytes %i, at least one, and continues after the last",
    async (maxBytes, texts, nextSeq) => {
      const { log, clock } = reading("aa", "bbb", "cccc");
      exit(log);
      const result = await read(log, { maxBytes }, clock);
      expect([result.chunks.map(({ chunk }) => String(chunk)), result.nextSeq]).toEqual([texts, nextSeq]);
    },
  );

  it("returns the next seq that the log will use for maxBytes without a chunk", async () => {
    const { log, clock } = reading("a");
    exit(log);
    expect((await read(log, { afterSeq: 1, maxBytes: 10 }, clock)).nextSeq).toBe(3);
  });

  it("returns at once without a wait, even if empty", async () => {
    const { log, clock } = reading();
    expect(await read(log, {}, clock)).toEqual({ chunks: [], nextSeq: 1, ...RUNNING });
    expect(clock.armed).toBe(0);
  });

  it("waits for output and returns it", async () => {
    const { log, clock, ask } = bound(reading("old"));
    const answer = await ask({ afterSeq: 1, waitMs: 1000 });
    expect(await answer()).toBeUndefined();
    print(log, "new");
    expect(await answer()).toEqual({ chunks: [output(2, "stdout", "new")], nextSeq: 3, ...RUNNING });
    expect(clock.armed).toBe(0);
  });

  it("does not return for a change without output", async () => {
    const { log, ask } = bound(reading());
    const answer = await ask({ waitMs: 1000 });
    log.appendResized({ rows: 10, cols: 10 });
    expect(await answer()).toBeUndefined();
  });

  it("returns empty when its time is over, not before", async () => {
    const { clock, ask } = bound(reading());
    const answer = await ask({ waitMs: 1000 });
    clock.advance(999);
    expect(await answer()).toBeUndefined();
    clock.advance(1);
    expect(await answer()).toEqual({ chunks: [], nextSeq: 1, ...RUNNING });
  });

  it("returns on the exit, and later reads wait again for late output", async () => {
    const { log, ask } = bound(reading());
    const first = await ask({ waitMs: 1000 });
    exit(log, 7);
    const exited = { ...RUNNING, exited: true, exitCode: 7 };
    expect(await first()).toEqual({ chunks: [], nextSeq: 2, ...exited });
    const second = await ask({ afterSeq: 1, waitMs: 1000 });
    expect(await second()).toBeUndefined();
    print(log, "late");
    expect(await second()).toEqual({ chunks: [output(2, "stdout", "late")], nextSeq: 3, ...exited });
  });

  it("returns at once if the exit is news to the caller", async () => {
    const { log, ask } = bound(reading("a"));
    exit(log);
    const answer = await ask({ afterSeq: 1, waitMs: 1000 });
    expect(await answer()).toEqual({ chunks: [], nextSeq: 3, ...RUNNING, exited: true, exitCode: 0 });
  });

  it("never waits once the log is closed", async () => {
    const { log, ask } = bound(reading());
    exit(log);
    log.appendClosed();
    const answer = await ask({ afterSeq: 2, waitMs: 1000 });
    expect(await answer()).toEqual({ chunks: [], nextSeq: 3, ...RUNNING, exited: true, exitCode: 0, closed: true });
  });

  it("returns when the log is closed", async () => {
    const { log, ask } = bound(reading());
    exit(log);
    const answer = await ask({ afterSeq: 1, waitMs: 1000 });
    expect(await answer()).toBeUndefined();
    log.appendClosed();
    expect(await answer()).toMatchObject({ nextSeq: 3, closed: true });
  });

  it("reports what was lost before the first chunk", async () => {
    const { log, clock } = new Reading({ retainedEvents: 2 }, "aa", "b", "c", "d");
    expect(plain(await read(log, {}, clock))).toEqual({
      chunks: [output(3, "stdout", "c"), output(4, "stdout", "d")],
      nextSeq: 5,
      gap: gap(1, 2, 3),
      ...RUNNING,
    });
  });

  it("joins the losses on both sides of the exit into one gap", async () => {
    const { log, clock } = new Reading({ retainedEvents: 1 }, "aa");
    exit(log);
    for (const text of ["bbb", "c"]) print(log, text);
    const { gap: lost, chunks } = await read(log, {}, clock);
    expect([lost, chunks.map(seen)]).toEqual([gap(1, 3, 5), [output(4, "stdout", "c")]]);
  });

  it("answers many waiting reads at once", async () => {
    const { log, ask } = bound(reading());
    const answers = [await ask({ waitMs: 10 }), await ask({ waitMs: 20 }), await ask({ afterSeq: 1, waitMs: 20 })];
    print(log, "a");
    const result = { chunks: [output(1, "stdout", "a")], nextSeq: 2, ...RUNNING };
    expect(await Promise.all(answers.map((answer) => answer()))).toEqual([result, result, undefined]);
  });

  it("returns the available output before it fails with the log", async () => {
    const { log, ask } = bound(reading("a"));
    const waiting = await ask({ afterSeq: 1, waitMs: 1000 });
    log.fail(cancelled);
    const late = await ask({ waitMs: 1000 });
    expect([await waiting(), await late()]).toEqual([
      cancelled,
      { chunks: [output(1, "stdout", "a")], nextSeq: 2, ...RUNNING },
    ]);
  });
});

function bound(made: Reading) {
  return { log: made.log, clock: made.clock, ask: (options: ReadOptions) => made.ask(options) };
}
