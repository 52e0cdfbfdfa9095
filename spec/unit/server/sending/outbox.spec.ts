// Bytes in flight on a connection: a full outbox reports that and has room again at half, replies wait for room, a peer that
// sends requests and reads no replies is not read, and connections share their memory.
import { describe, expect, it } from "@jest/globals";
import { MemoryPool } from "../../../../lib/server/sending/memory-pool.ts";
import { Outbox } from "../../../../lib/server/sending/outbox.ts";
import type { Transport } from "../../../../lib/transport/transport.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const LIMITS = { outboxBytes: 100, outboxReplyBytes: 60, outboxMaxBytes: 300, frameOverheadBytes: 0 };

/** A transport whose frames leave when the spec says so. */
function make(limits: Partial<typeof LIMITS> = {}, options: { eventsCanStall?: boolean } = {}) {
  const unsent: (() => void)[] = [];
  const told: string[] = [];
  const line = { unsentBytes: 0 };
  const transport: Transport = {
    listen: () => undefined,
    send: (_frame, sent) => unsent.push(sent as () => void),
    close: () => undefined,
    terminate: () => undefined,
    pause: () => told.push("pause"),
    resume: () => told.push("resume"),
    unsentBytes: () => line.unsentBytes,
  };
  const owner = {
    onRoom: () => told.push("room"),
    onOverflow: () => told.push("overflow"),
    onStalled: () => told.push("stalled"),
  };
  const outbox = new Outbox(transport, { ...LIMITS, ...limits }, owner, options);
  const push = (bytes: number) => outbox.push(new Uint8Array(bytes));
  const reply = (bytes: number) => outbox.send(new Uint8Array(bytes));
  return { outbox, push, reply, unsent, told, line, sent: () => unsent.shift()?.() };
}

describe("an outbox", () => {
  it("has room while it is below its bound", () => {
    const { outbox, push } = make();
    expect(outbox.hasRoom).toBe(true);
    push(99);
    expect(outbox.hasRoom).toBe(true);
    push(1);
    expect(outbox.hasRoom).toBe(false);
  });

  it("has room again when half of it is sent, and reports that once", () => {
    const { outbox, push, sent, told } = make();
    for (let count = 0; count < 5; count += 1) push(20);
    sent();
    sent();
    expect([outbox.hasRoom, told]).toEqual([false, []]);
    sent();
    expect([outbox.hasRoom, told]).toEqual([true, ["room"]]);
    sent();
    sent();
    expect(told).toEqual(["room"]);
  });

  it("reports no room if it never was full", () => {
    const { push, sent, told } = make();
    push(99);
    sent();
    expect(told).toEqual([]);
  });

  it("accepts a frame larger than its bound, and then has no room until it is sent", () => {
    const { outbox, push, sent } = make();
    push(250);
    expect(outbox.hasRoom).toBe(false);
    sent();
    expect(outbox.hasRoom).toBe(true);
  });

  it("reports frames that pile up beyond the last bound", () => {
    const { push, told } = make();
    push(300);
    expect(told).toEqual([]);
    push(1);
    expect(told).toEqual(["overflow"]);
  });

  it("charges the overhead of a frame in addition to its bytes", () => {
    const { outbox, push } = make({ frameOverheadBytes: 40 });
    push(1);
    push(1);
    expect([outbox.hasRoom, outbox.bytes]).toEqual([true, 82]);
    push(1);
    expect(outbox.hasRoom).toBe(false);
  });

  it("stops reading from a peer while replies to it fill their bound, and continues at half", () => {
    const { reply, sent, told } = make();
    for (let count = 0; count < 3; count += 1) reply(20);
    expect(told).toEqual(["pause"]);
    sent();
    expect(told).toEqual(["pause"]);
    sent();
    expect(told).toEqual(["pause", "resume"]);
  });

  it("continues to read while only events wait, so that a client can interrupt a flood", () => {
    const { push, told } = make();
    push(200);
    expect(told).toEqual([]);
  });

  it("makes replies one after another, each when there is room for it", () => {
    const { outbox, unsent, sent } = make();
    const made: number[] = [];
    for (const id of [1, 2, 3, 4]) {
      outbox.answer(
        () => {
          made.push(id);
          return new Uint8Array(60);
        },
        () => made.push(-id),
      );
    }
    expect(made).toEqual([1, -1]);
    sent();
    expect(made).toEqual([1, -1, 2, -2]);
    sent();
    sent();
    expect([made, unsent.length]).toEqual([[1, -1, 2, -2, 3, -3, 4, -4], 1]);
  });

  it("reserves room for a reply that is made later, and makes no other reply meanwhile", () => {
    const { outbox, told, unsent, sent } = make();
    const uses: ((make: () => Uint8Array) => void)[] = [];
    for (let count = 0; count < 2; count += 1) outbox.reserve(60, (use) => uses.push(use));
    expect([uses.length, outbox.canAnswer, outbox.progress, told]).toEqual([1, false, undefined, ["pause"]]);
    uses[0]?.(() => new Uint8Array(20));
    expect([unsent.length, outbox.bytes]).toEqual([1, 20]);
    sent();
    expect([uses.length, outbox.bytes]).toEqual([2, 60]);
    outbox.end();
    uses[1]?.(() => new Uint8Array(20));
    expect(unsent.length).toBe(0);
  });

  it("makes no more replies once the connection is closed", () => {
    const { outbox, sent } = make();
    const made: number[] = [];
    for (const id of [1, 2]) {
      outbox.answer(
        () => {
          made.push(id);
          return new Uint8Array(60);
        },
        () => undefined,
      );
    }
    outbox.end();
    sent();
    expect(made).toEqual([1]);
  });
});

describe("the memory that outboxes share", () => {
  function share(bytes: number) {
    const clock = new FakeClock();
    const pool = new MemoryPool({ clock, bytes, stallMs: 4_000, crowdedMs: 1_000 });
    const join = (options: { eventsCanStall?: boolean } = {}) => {
      const member = make({ outboxMaxBytes: 1_000 }, options);
      member.outbox.join(pool);
      return member;
    };
    return { clock, pool, join };
  }

  it("is divided among them", () => {
    const { join } = share(400);
    const members = [1, 2, 3, 4].map(() => join());
    members[0]?.push(49);
    expect(members[0]?.outbox.hasRoom).toBe(true);
    members[0]?.push(1);
    expect([members[0]?.outbox.hasRoom, members[1]?.outbox.hasRoom]).toEqual([false, true]);
  });

  it("is freed by a closed connection, and the others continue", () => {
    const { join, pool } = share(400);
    const [greedy, other] = [join(), join()];
    greedy.push(300);
    other.reply(100);
    expect([pool.isExhausted, other.outbox.hasRoom, other.told]).toEqual([true, false, ["pause"]]);
    greedy.outbox.end();
    expect([pool.isExhausted, other.told]).toEqual([false, ["pause"]]);
    other.sent();
    expect(other.told).toEqual(["pause", "resume", "room"]);
  });

  it("stops reading and answering while it is used up", () => {
    const { join } = share(400);
    const [greedy, other] = [join(), join()];
    let made = 0;
    greedy.push(390);
    other.reply(10);
    expect(other.told).toEqual(["pause"]);
    other.outbox.answer(
      () => {
        made += 1;
        return new Uint8Array(1);
      },
      () => undefined,
    );
    expect(made).toBe(0);
    greedy.sent();
    expect([made, other.told]).toEqual([1, ["pause", "resume", "room"]]);
  });

  it("drops a connection that accepts no byte for too long, and none that accepts some", () => {
    const { join, clock } = share(400);
    const [stalled, slow, idle] = [join(), join(), join()];
    stalled.push(10);
    slow.push(10);
    for (let second = 0; second < 10; second += 1) {
      clock.advance(1_000);
      slow.line.unsentBytes += 1;
    }
    expect([stalled.told[0], slow.told, idle.told]).toEqual(["stalled", [], []]);
  });

  it("drops no client that leaves only events unread in a protocol where that pauses the process", () => {
    const { join, clock } = share(400);
    const client = join({ eventsCanStall: false });
    client.push(10);
    clock.advance(60_000);
    expect(client.told).toEqual([]);
    client.reply(1);
    clock.advance(60_000);
    expect(client.told[0]).toBe("stalled");
  });

  it("drops a connection above its share when the memory stays used up, even if it reads slowly", () => {
    const { join, clock } = share(400);
    const [greedy, modest] = [join(), join()];
    for (let count = 0; count < 13; count += 1) greedy.push(30);
    modest.push(10);
    for (let step = 0; step < 20; step += 1) {
      clock.advance(100);
      greedy.line.unsentBytes += 1;
      modest.line.unsentBytes += 1;
    }
    expect([greedy.told[0], modest.told]).toEqual(["stalled", []]);
  });

  it("is used by running requests, too: beyond half of it only within a connection's share", () => {
    const { join, pool } = share(400);
    const [greedy, modest] = [join(), join()];
    for (let count = 0; count < 4; count += 1) expect(greedy.outbox.tryCharge(50)).toBe(true);
    expect([greedy.outbox.tryCharge(50), modest.outbox.tryCharge(90), modest.outbox.tryCharge(20)]).toEqual([
      false,
      true,
      false,
    ]);
    greedy.outbox.release(200);
    expect(modest.outbox.tryCharge(20)).toBe(true);
    greedy.push(300);
    expect(pool.isExhausted).toBe(true);
    // With its end.
    greedy.outbox.end();
    greedy.outbox.release(50);
    expect([pool.isExhausted, modest.outbox.bytes]).toEqual([false, 110]);
  });

  it("needs no timer while nothing waits", () => {
    const { join, clock } = share(400);
    const { push, sent } = join();
    expect(clock.armed).toBe(0);
    push(1);
    expect(clock.armed).toBe(1);
    sent();
    clock.advance(1_000);
    expect(clock.armed).toBe(0);
  });
});
