// ReplayLog and Cursor against a model that evicts nothing: for all orders of appends, reads, holds and evictions,
// every reader gets each event once or an exact gap.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { MemoryBudget } from "../../../lib/log/memory-budget.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { ProcessEvent } from "../../../protocol/index.ts";
import { runs } from "../../support/fuzz.ts";
import { CheckedReader, exitOf, LogModel } from "./log-model.ts";

const bounds = fc.record({
  retainedBytes: fc.integer({ min: 1, max: 60 }),
  retainedEvents: fc.integer({ min: 1, max: 10 }),
  chunkBytes: fc.integer({ min: 1, max: 16 }),
  eventOverheadBytes: fc.integer({ min: 0, max: 5 }),
  budgetBytes: fc.oneof(fc.integer({ min: 1, max: 120 }), fc.constant(1_000_000)),
});

const stream = fc.constantFrom("stdout" as const, "stderr" as const, "pty" as const);
const op = fc.oneof(
  {
    weight: 8,
    arbitrary: fc.record({ op: fc.constant("output" as const), stream, size: fc.integer({ min: 0, max: 40 }) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("resized" as const), rows: fc.integer({ min: 1, max: 99 }) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("exited" as const), exitCode: fc.integer({ min: 0, max: 2 }) }) },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("closed" as const) }) },
  { weight: 3, arbitrary: fc.record({ op: fc.constant("reader" as const), afterSeq: fc.nat(30), held: fc.boolean() }) },
  {
    weight: 6,
    arbitrary: fc.record({ op: fc.constant("read" as const), which: fc.nat(9), count: fc.integer({ min: 1, max: 8 }) }),
  },
  { weight: 1, arbitrary: fc.record({ op: fc.constant("release" as const), which: fc.nat(9) }) },
  { weight: 2, arbitrary: fc.record({ op: fc.constant("neighbour" as const), size: fc.integer({ min: 0, max: 60 }) }) },
);
type Drawn<A> = A extends fc.Arbitrary<infer T> ? T : never;
type Op = Drawn<typeof op>;
type Bounds = Drawn<typeof bounds>;

/** One log with its model, its readers, and a neighbour that shares the memory budget. */
class World {
  readonly #bounds: Bounds;
  readonly #budget: MemoryBudget;
  readonly #log: ReplayLog;
  readonly #neighbour: ReplayLog;
  readonly #model: LogModel;
  readonly #readers: CheckedReader[] = [];
  readonly #seen = new Map<number, ProcessEvent>();
  #printed = 0;

  constructor(drawn: Bounds) {
    this.#bounds = drawn;
    this.#budget = new MemoryBudget(drawn.budgetBytes);
    this.#log = new ReplayLog({ ...drawn, budget: this.#budget });
    this.#neighbour = new ReplayLog({ ...drawn, retainedBytes: 1_000, budget: this.#budget });
    this.#model = new LogModel(Math.min(drawn.chunkBytes, drawn.retainedBytes));
  }

  run(step: Op): void {
    const costBefore = this.#log.cost;
    const headBefore = this.#log.headSeq;
    this.#apply(step);
    this.#checkLog();
    if (this.#log.headSeq > headBefore) this.#checkBudget(costBefore);
  }

  /** Every reader reads to the end: no appended event is missing without a gap. */
  finish(): void {
    for (const reader of this.#readers) {
      reader.read(Number.POSITIVE_INFINITY);
      expect(reader.position).toBeGreaterThanOrEqual(this.#model.headSeq);
    }
  }

  #apply(step: Op): void {
    const log = this.#log;
    const model = this.#model;
    const reader = "which" in step ? this.#readers[step.which % Math.max(1, this.#readers.length)] : undefined;
    switch (step.op) {
      case "output": {
        const chunk = Uint8Array.from({ length: step.size }, () => this.#printed++ % 251);
        model.output(step.stream, chunk);
        return log.appendOutput(step.stream, chunk);
      }
      case "resized":
        model.resized(step.rows);
        return log.appendResized({ rows: step.rows, cols: 80 });
      case "exited":
        model.exited(step.exitCode);
        return log.appendExited(exitOf(step.exitCode));
      case "closed":
        model.close();
        return log.appendClosed();
      case "reader":
        this.#readers.push(new CheckedReader(log, model, step.afterSeq, step.held));
        return;
      case "read":
        return reader?.read(step.count);
      case "release":
        return reader?.release();
      case "neighbour":
        return this.#neighbour.appendOutput("stdout", new Uint8Array(step.size));
    }
  }

  #checkLog(): void {
    const { firstSeq, headSeq, retainedBytes, closed, exited } = this.#log;
    expect(headSeq).toBe(this.#model.headSeq);
    expect(closed).toBe(this.#model.closed);
    expect(exited).toEqual(this.#model.events.find(({ type }) => type === "exited"));
    expect(retainedBytes).toBe(this.#model.bytes(firstSeq, headSeq));
    for (let seq = firstSeq; seq <= headSeq; seq += 1) {
      const event = this.#log.next(seq - 1) as ProcessEvent;
      if (this.#seen.has(seq)) expect(this.#seen.get(seq)).toBe(event);
      this.#seen.set(seq, event);
    }
    const isOver = retainedBytes > this.#bounds.retainedBytes || headSeq - firstSeq + 1 > this.#bounds.retainedEvents;
    if (isOver && !this.#isBlocked()) throw new Error(`keeps ${retainedBytes} bytes in ${firstSeq}..${headSeq}`);
  }

  /** Nothing may be evicted: a reader holds the oldest event, or it is the only one. */
  #isBlocked(): boolean {
    const { firstSeq, headSeq } = this.#log;
    return firstSeq === headSeq || this.#readers.some(({ held, position }) => held && position < firstSeq);
  }

  #checkBudget(costBefore: number): void {
    expect(this.#budget.used).toBe(this.#log.cost + this.#neighbour.cost);
    if (!this.#budget.over || this.#isBlocked()) return;
    const newest = this.#bounds.chunkBytes + this.#bounds.eventOverheadBytes;
    expect(this.#log.cost).toBeLessThanOrEqual(Math.max(costBefore, newest));
  }
}

describe("a replay log", () => {
  it("gives every reader each event once, or the exact range and bytes it lost", () => {
    fc.assert(
      fc.property(bounds, fc.array(op, { maxLength: 80 }), (drawn, steps) => {
        const world = new World(drawn);
        for (const step of steps) world.run(step);
        world.finish();
      }),
      runs(500),
    );
  });
});
