// Reading a log on demand: the consumer sets the pace, and with `lossless` the log keeps what it has not read.
import { describe, expect, it } from "@jest/globals";
import { DeliveryIterator } from "../../../lib/log/iterate.ts";
import { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { Delivery } from "../../../protocol/index.ts";
import { cancelled, exit, print } from "../../support/log-writing.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { closed, exited, gap, output, seen } from "../../support/transcript.ts";

async function all(iterator: AsyncIterable<Delivery>): Promise<unknown[]> {
  const got: unknown[] = [];
  for await (const delivery of iterator) got.push(seen(delivery));
  return got;
}

const DONE = { done: true, value: undefined };

describe("iterating over a log", () => {
  it("delivers everything, including later events, and completes after the end", async () => {
    const log = new ReplayLog();
    print(log, "one");
    const got = all(new DeliveryIterator(log));
    await nextTurn();
    print(log, "two");
    exit(log);
    await nextTurn();
    log.appendClosed();
    expect(await got).toEqual([
      output(1, "stdout", "one"),
      output(2, "stdout", "two"),
      exited(3),
      closed(4, { stdout: 6 }),
    ]);
  });

  it("completes at once for a reader that has already read the end", async () => {
    const log = new ReplayLog();
    log.appendClosed();
    let result: unknown = "waits for ever";
    void new DeliveryIterator(log, 1).next().then((first) => {
      result = first;
    });
    await nextTurn();
    expect(result).toEqual(DONE);
  });

  it("answers concurrent reads in order", async () => {
    const log = new ReplayLog();
    const iterator = new DeliveryIterator(log);
    const reads = [iterator.next(), iterator.next(), iterator.next()];
    print(log, "a");
    print(log, "b");
    log.appendClosed();
    const values = (await Promise.all(reads)).map(({ value }) => value && seen(value));
    expect(values).toEqual([output(1, "stdout", "a"), output(2, "stdout", "b"), closed(3, { stdout: 2 })]);
    expect(await iterator.next()).toEqual(DONE);
  });

  it("gives a reader that fell behind a gap and continues", async () => {
    const log = new ReplayLog({ retainedEvents: 2 });
    const iterator = new DeliveryIterator(log);
    print(log, "a");
    expect(seen((await iterator.next()).value as Delivery)).toEqual(output(1, "stdout", "a"));
    for (const text of ["bb", "ccc", "d"]) print(log, text);
    log.appendClosed();
    expect(await all(iterator)).toEqual([gap(2, 3, 5), output(4, "stdout", "d"), closed(5, { stdout: 7 })]);
  });

  it("keeps everything for a lossless reader from its creation on", async () => {
    const log = new ReplayLog({ retainedEvents: 2 });
    const iterator = new DeliveryIterator(log, 0, "lossless");
    const texts = ["a", "b", "c", "d", "e"];
    for (const text of texts) print(log, text);
    log.appendClosed();
    const expected = texts.map((text, index) => output(index + 1, "stdout", text));
    expect(await all(iterator)).toEqual([...expected, closed(6, { stdout: 5 })]);
  });

  it("ends a waiting read when the iterator is returned", async () => {
    const log = new ReplayLog();
    const iterator = new DeliveryIterator(log, 0, "lossless");
    const waiting = iterator.next();
    await nextTurn();
    expect(await iterator.return()).toEqual(DONE);
    expect(await waiting).toEqual(DONE);
    print(log, "a");
    expect(await iterator.next()).toEqual(DONE);
  });

  it.each(["return", "throw"])("releases its hold when the loop is left by %s", async (how) => {
    const log = new ReplayLog({ retainedEvents: 2 });
    print(log, "a");
    const leave = async () => {
      for await (const delivery of new DeliveryIterator(log, 0, "lossless")) {
        if (how === "throw") throw new Error(`a consumer's bug at ${delivery.type}`);
        return;
      }
    };
    if (how === "throw") await expect(leave()).rejects.toThrow("a consumer's bug at output");
    else await leave();
    for (const text of ["b", "c", "d"]) print(log, text);
    expect(log.firstSeq).toBe(3);
  });

  it("gets a gap if its lease expired while it did nothing", async () => {
    const log = new ReplayLog({ retainedEvents: 2 });
    const iterator = new DeliveryIterator(log, 0, "lossless");
    for (const text of ["a", "b", "c", "d"]) print(log, text);
    log.holds.beginLease();
    log.holds.endLease();
    print(log, "e");
    log.appendClosed();
    expect(await all(iterator)).toEqual([gap(1, 4, 4), output(5, "stdout", "e"), closed(6, { stdout: 5 })]);
  });

  it("gets a gap if its lease expired although the process went on", async () => {
    const log = new ReplayLog({ retainedEvents: 2 });
    const iterator = new DeliveryIterator(log, 0, "lossless");
    print(log, "a");
    await iterator.next();
    for (const text of ["b", "c", "d"]) print(log, text);
    log.holds.beginLease();
    print(log, "e");
    log.holds.endLease();
    log.appendClosed();
    expect(await all(iterator)).toEqual([gap(2, 4, 3), output(5, "stdout", "e"), closed(6, { stdout: 5 })]);
  });

  it("keeps its lease while it reads or calls renew", async () => {
    const log = new ReplayLog({ retainedEvents: 2 });
    const reading = new DeliveryIterator(log, 0, "lossless");
    const busy = new DeliveryIterator(log, 0, "lossless");
    for (const text of ["a", "b", "c", "d"]) print(log, text);
    log.holds.beginLease();
    await reading.next();
    busy.renew();
    log.holds.endLease();
    print(log, "e");
    expect(log.firstSeq).toBe(1);
  });

  it("fails with the log's failure after the last event", async () => {
    const log = new ReplayLog();
    const iterator = new DeliveryIterator(log);
    const reads = Promise.allSettled([iterator.next(), iterator.next(), iterator.next()]);
    print(log, "a");
    log.fail(cancelled);
    expect(await reads).toEqual([
      { status: "fulfilled", value: { done: false, value: expect.objectContaining({ seq: 1 }) } },
      { status: "rejected", reason: cancelled },
      { status: "fulfilled", value: DONE },
    ]);
  });
});
