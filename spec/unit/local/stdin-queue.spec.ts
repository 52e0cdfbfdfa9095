// The input of a child: order, room, and the end, with a stdin that accepts a write when the spec lets it.
import { describe, expect, it } from "@jest/globals";
import { WriteLedger } from "../../../lib/host/write-ledger.ts";
import { type StdinCounts, StdinQueue } from "../../../lib/local/stdin-queue.ts";
import { FakeStdin } from "../../support/fake-child.ts";

/** A queue of five bytes; `answers` are in order of arrival. */
class Input {
  readonly stdin = new FakeStdin();
  readonly answers: string[] = [];
  readonly counts: StdinCounts = { bytes: { stdin: 0 }, duplicates: 0 };
  readonly queue: StdinQueue;

  constructor(writeIds = 100) {
    const written = (error?: Error) => this.queue.written(error);
    this.queue = new StdinQueue(
      this.stdin,
      new WriteLedger(writeIds),
      { stdinQueueBytes: 5, stdinParkedBytes: 100 },
      written,
      this.counts,
    );
  }

  write(text: string, writeId?: string): void {
    this.queue.write(Buffer.from(text), writeId, this.#reply(`${writeId ?? text}`));
  }

  end(): void {
    this.queue.end(this.#reply("end"));
  }

  #reply(name: string) {
    return {
      resolve: (status: string) => this.answers.push(`${name} ${status}`),
      reject: (error: unknown) => this.answers.push(`${name} ${(error as { code: string }).code}`),
    };
  }
}

describe("a stdin queue", () => {
  it("passes on one write at a time, in order", () => {
    const input = new Input();
    for (const text of ["a", "b", "c"]) input.write(text);
    expect(input.answers).toEqual(["a accepted", "b accepted", "c accepted"]);
    expect(input.stdin.received).toEqual(["a"]);
    input.stdin.take();
    input.stdin.take();
    input.stdin.take();
    expect(input.stdin.received).toEqual(["a", "b", "c"]);
  });

  it("parks a write without room, and all later ones, even small ones", () => {
    const input = new Input();
    for (const text of ["1234", "56", "7"]) input.write(text);
    expect(input.answers).toEqual(["1234 accepted"]);
    input.stdin.take();
    expect(input.answers).toEqual(["1234 accepted", "56 accepted", "7 accepted"]);
    input.stdin.take();
    input.stdin.take();
    expect(input.stdin.received).toEqual(["1234", "56", "7"]);
  });

  it("can be filled up to its last byte", () => {
    const input = new Input();
    for (const text of ["123", "45", "6"]) input.write(text);
    expect(input.answers).toEqual(["123 accepted", "45 accepted"]);
  });

  it("accepts a write larger than itself when it is empty", () => {
    const input = new Input();
    input.write("a");
    input.write("longer than five");
    expect(input.answers).toEqual(["a accepted"]);
    input.stdin.take();
    expect(input.answers).toEqual(["a accepted", "longer than five accepted"]);
    input.write("b");
    input.stdin.take();
    expect(input.stdin.received).toEqual(["a", "longer than five", "b"]);
  });

  it("acknowledges a known write without waiting for room and without writing it twice", () => {
    const input = new Input();
    input.write("12345", "w1");
    input.write("12345", "w1");
    expect(input.answers).toEqual(["w1 accepted", "w1 accepted"]);
    input.stdin.take();
    expect(input.stdin.received).toEqual(["12345"]);
  });

  it("does not forget a write id for a write without an id", () => {
    const input = new Input(1);
    input.write("1", "w1");
    input.write("2");
    input.write("1", "w1");
    for (const _ of ["1", "2"]) input.stdin.take();
    expect(input.stdin.received).toEqual(["1", "2"]);
    expect(() => input.stdin.take()).toThrow("no write is in flight");
  });

  it("writes once if a write is repeated while the first is parked", () => {
    const input = new Input();
    input.write("12345");
    input.write("67", "w1");
    input.write("67", "w1");
    expect(input.answers).toEqual(["12345 accepted"]);
    input.stdin.take();
    expect(input.answers).toEqual(["12345 accepted", "w1 accepted", "w1 accepted"]);
    input.stdin.take();
    expect(input.stdin.received).toEqual(["12345", "67"]);
    expect(() => input.stdin.take()).toThrow("no write is in flight");
  });

  it("acknowledges a parked retry as soon as the first is accepted, even without room for another write", () => {
    const input = new Input();
    input.write("12345");
    input.write("678", "w1");
    input.write("678", "w1");
    input.stdin.take();
    expect(input.answers).toEqual(["12345 accepted", "w1 accepted", "w1 accepted"]);
  });

  it("refuses different bytes with a known id, also if the first write was parked", () => {
    const input = new Input();
    input.write("12345", "w1");
    input.write("other", "w1");
    input.write("67", "w2");
    input.write("89", "w2");
    input.stdin.take();
    expect(input.answers).toEqual(["w1 accepted", "w1 WRITE_ID_CONFLICT", "w2 accepted", "w2 WRITE_ID_CONFLICT"]);
  });

  it("ends the input after queued and parked writes", () => {
    const input = new Input();
    for (const text of ["1234", "56"]) input.write(text);
    input.end();
    expect(input.answers).toEqual(["1234 accepted"]);
    input.stdin.take();
    input.stdin.take();
    expect(input.answers).toEqual(["1234 accepted", "56 accepted", "end accepted"]);
    expect(input.stdin.received).toEqual(["1234", "56", "EOF"]);
  });

  it("accepts only retries after the end, and ends once", () => {
    const input = new Input();
    input.write("1", "w1");
    input.end();
    input.end();
    input.write("2");
    input.write("1", "w1");
    input.stdin.take();
    expect(input.answers).toEqual(["w1 accepted", "end accepted", "end accepted", "2 stdinClosed", "w1 accepted"]);
    expect(input.stdin.received).toEqual(["1", "EOF"]);
  });

  it("ends an input that was never written to", () => {
    const input = new Input();
    input.end();
    expect([input.answers, input.stdin.received]).toEqual([["end accepted"], ["EOF"]]);
  });

  it("answers all writes when the child stops reading, and drops the queue", () => {
    const input = new Input();
    for (const text of ["123", "45", "678"]) input.write(text);
    input.end();
    input.stdin.take(new Error("EPIPE"));
    input.write("9");
    input.end();
    expect(input.answers).toEqual([
      "123 accepted",
      "45 accepted",
      "678 stdinClosed",
      "end stdinClosed",
      "9 stdinClosed",
      "end stdinClosed",
    ]);
    expect(input.stdin.received).toEqual(["123"]);
  });

  it("stays broken if a write in flight is accepted after the exit", () => {
    const input = new Input();
    input.write("1", "w1");
    input.queue.break();
    input.stdin.take();
    input.write("2");
    input.write("1", "w1");
    expect(input.answers).toEqual(["w1 accepted", "2 stdinClosed", "w1 accepted"]);
    expect(input.stdin.received).toEqual(["1"]);
  });

  it("writes no queued bytes once the child has exited", () => {
    const input = new Input();
    for (const text of ["1", "2"]) input.write(text);
    input.queue.break();
    input.stdin.take();
    expect(input.stdin.received).toEqual(["1"]);
  });

  it("counts the bytes that the kernel accepted, and repeated writes", () => {
    const input = new Input();
    input.write("12", "w1");
    input.write("345");
    input.write("12", "w1");
    expect(input.counts).toEqual({ bytes: { stdin: 0 }, duplicates: 1 });
    input.stdin.take();
    expect(input.counts.bytes.stdin).toBe(2);
    input.stdin.take();
    expect(input.counts.bytes.stdin).toBe(5);
  });

  it("parks one write of any size, and more up to the last byte of its limit", () => {
    const alone = new Input();
    alone.write("12345");
    alone.write("a".repeat(101), "alone");
    alone.stdin.take();
    expect(alone.answers).toEqual(["12345 accepted", "alone accepted"]);
    const input = new Input();
    input.write("12345");
    for (const [length, name] of [
      [60, "first"],
      [40, "fits"],
      [1, "too much"],
    ] as const)
      input.write("a".repeat(length), name);
    expect(input.answers).toEqual(["12345 accepted", "too much LIMIT_EXCEEDED"]);
  });

  it("has room again for parked writes once others were accepted", () => {
    const input = new Input();
    input.write("12345");
    input.write("a".repeat(60), "first");
    input.stdin.take();
    input.write("b".repeat(60), "second");
    input.write("c".repeat(40), "third");
    input.write("d", "too much");
    expect(input.answers).toEqual(["12345 accepted", "first accepted", "too much LIMIT_EXCEEDED"]);
  });

  it("refuses writes that cannot wait, and delivers accepted ones", () => {
    const input = new Input();
    input.write("12345");
    input.write("a".repeat(100), "parked");
    input.write("b", "too much");
    expect(input.answers).toEqual(["12345 accepted", "too much LIMIT_EXCEEDED"]);
    input.stdin.take();
    input.stdin.take();
    expect(input.answers.slice(2)).toEqual(["parked accepted"]);
    expect(input.stdin.received).toEqual(["12345", "a".repeat(100)]);
  });

  it("accepts an empty write without a call to the child, and continues with the next", () => {
    const input = new Input();
    input.write("", "w1");
    input.write("a");
    input.stdin.take();
    expect([input.answers, input.stdin.received]).toEqual([["w1 accepted", "a accepted"], ["a"]]);
  });
});
