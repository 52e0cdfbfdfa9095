// Peers are read in turns: in order, with time for other work in between, by priority, and not at all while paused.
import { PassThrough } from "node:stream";
import { describe, expect, it } from "@jest/globals";
import { type Inflow, ReadTurns } from "../../../../lib/transport/admission/read-turns.ts";
import { nextTurn } from "../../../support/next-turn.ts";

/** A peer that sends bytes, each of which is a piece; `handle` handles one. */
function peer(turns: ReadTurns, handle: (byte: number, inflow: Inflow) => void) {
  const stream = new PassThrough({ highWaterMark: 1024 * 1024 });
  const inflow = turns.open(stream);
  stream.on("data", (chunk: Buffer) => {
    for (const byte of chunk) inflow.offer(() => handle(byte, inflow));
  });
  return { stream, inflow };
}

/** Uses up time like a costly request. */
function work(ms: number): void {
  const end = performance.now() + ms;
  while (performance.now() < end);
}

describe("peers that are read in turns", () => {
  it("get all pieces handled in order", async () => {
    const bytes = Buffer.from(Array.from({ length: 20_000 }, (_, index) => index % 251));
    const got: number[] = [];
    const { stream } = peer(new ReadTurns(), (byte) => got.push(byte));
    stream.write(bytes);
    while (got.length < bytes.length) await nextTurn();
    expect(Buffer.from(got).equals(bytes)).toBe(true);
  });

  it("leave the event loop to other work: a flood takes many turns of it", async () => {
    const turns = new ReadTurns({ turnMs: 1, viewTurnMs: 1 });
    let done = 0;
    const { stream } = peer(turns, () => {
      work(0.5);
      done += 1;
    });
    stream.write(Buffer.alloc(100));
    let passed = 0;
    for (; done < 100; passed += 1) await nextTurn();
    expect(passed).toBeGreaterThan(20);
  });

  it("leave most turns to other work while they flood, since one connection is accepted per turn", async () => {
    let done = 0;
    const { stream, inflow } = peer(new ReadTurns({ turnMs: 2, viewTurnMs: 2 }), () => {
      work(2);
      done += 1;
    });
    inflow.rank("last");
    stream.write(Buffer.alloc(20));
    let [passed, busy] = [0, 0];
    for (let before = done; done < 20; before = done) {
      await nextTurn();
      passed += 1;
      if (done > before) busy += 1;
    }
    expect(passed).toBeGreaterThan(busy * 5);
  });

  it("share the time of a turn, however many peers there are", async () => {
    const turns = new ReadTurns({ turnMs: 1, viewTurnMs: 1 });
    let done = 0;
    for (let count = 0; count < 100; count += 1) {
      const { stream } = peer(turns, () => {
        work(1);
        done += 1;
      });
      stream.write("x");
    }
    await nextTurn();
    await nextTurn();
    expect(done).toBeLessThan(10);
    while (done < 100) await nextTurn();
  });

  it("are served before others if they control processes", async () => {
    const turns = new ReadTurns({ turnMs: 1, viewTurnMs: 1 });
    const order: string[] = [];
    for (let count = 0; count < 50; count += 1) {
      const viewer = peer(turns, () => {
        work(1);
        order.push("viewer");
      });
      viewer.inflow.rank("last");
      viewer.stream.write(Buffer.alloc(10));
    }
    const owner = peer(turns, () => order.push("owner"));
    owner.inflow.rank("first");
    await nextTurn();
    owner.stream.write("x");
    while (!order.includes("owner")) await nextTurn();
    expect(order.length).toBeLessThan(20);
  });

  it("get no piece handled while paused, not even one that has arrived", async () => {
    const got: number[] = [];
    const { stream, inflow } = peer(new ReadTurns(), (byte, self) => {
      got.push(byte);
      if (byte === 2) self.pause();
    });
    stream.write(Buffer.from([1, 2, 3, 4]));
    stream.write(Buffer.from([5]));
    for (let count = 0; count < 5; count += 1) await nextTurn();
    expect(got).toEqual([1, 2]);
    inflow.resume();
    while (got.length < 5) await nextTurn();
    expect(got).toEqual([1, 2, 3, 4, 5]);
  });

  it("have all promises of a piece settled before the next one, so that a handler can still pause", async () => {
    const got: number[] = [];
    const { stream } = peer(new ReadTurns(), async (byte, self) => {
      got.push(byte);
      for (let count = 0; count < 10; count += 1) await undefined;
      self.pause();
    });
    stream.write(Buffer.from([1, 2, 3]));
    for (let count = 0; count < 5; count += 1) await nextTurn();
    expect(got).toEqual([1]);
  });

  it("continue after a handler throws", async () => {
    const got: number[] = [];
    const caught: unknown[] = [];
    const { stream } = peer(new ReadTurns(), (byte) => {
      got.push(byte);
    });
    const turns = new ReadTurns();
    const thrower = turns.open(new PassThrough());
    try {
      thrower.offer(() => {
        throw new Error("a handler");
      });
    } catch (error) {
      caught.push(error);
    }
    thrower.offer(() => got.push(9));
    stream.write(Buffer.from([1]));
    while (got.length < 2) await nextTurn();
    expect([got.toSorted(), caught.length]).toEqual([[1, 9], 1]);
  });
});
