// A write that a terminal would truncate is checked when its turn comes: not before, since the mode may change, nor after.
import { describe, expect, it } from "@jest/globals";
import { ExecwireError } from "../../../lib/errors.ts";
import { WriteLedger } from "../../../lib/host/write-ledger.ts";
import { StdinQueue } from "../../../lib/local/stdin-queue.ts";
import type { LineLimit } from "../../../lib/spawn/child.ts";
import { FakeStdin } from "../../support/fake-child.ts";

/** The stdin of a terminal whose lines have at most three bytes, while it is canonical. */
class FakeTerminal extends FakeStdin {
  canonical = true;
  readonly reserved: string[] = [];
  readonly line: LineLimit = {
    truncationError: (chunk) =>
      this.canonical && chunk.length > 3
        ? new ExecwireError("LIMIT_EXCEEDED", "too long", { data: { limit: "ttyLine" } })
        : undefined,
    reserve: (chunk) => this.reserved.push(Buffer.from(chunk).toString()),
  };
}

function make() {
  const stdin = new FakeTerminal();
  const answers: string[] = [];
  const limits = { stdinQueueBytes: 1000, stdinParkedBytes: 1000 };
  const queue: StdinQueue = new StdinQueue(stdin, new WriteLedger(10), limits, (error) => queue.written(error));
  const write = (text: string, writeId?: string) =>
    queue.write(Buffer.from(text), writeId, {
      resolve: (status) => answers.push(`${text} ${status}`),
      reject: (error) => answers.push(`${text} ${(error as ExecwireError).code}`),
    });
  return { stdin, queue, answers, write };
}

describe("the line of a terminal", () => {
  it("reserves the bytes that will be typed, not an empty write and not the end", () => {
    const { stdin, queue, write } = make();
    write("");
    write("a");
    queue.end({ resolve: () => undefined, reject: () => undefined });
    stdin.take();
    expect([stdin.reserved, stdin.received]).toEqual([["a"], ["a", "EOF"]]);
  });
});

describe("a write that is too long for its line", () => {
  it("is refused at once if no write is before it, and later writes are not", () => {
    const { stdin, answers, write } = make();
    write("long");
    write("ok");
    expect([answers, stdin.received]).toEqual([["long LIMIT_EXCEEDED", "ok accepted"], ["ok"]]);
    expect(stdin.reserved).toEqual(["ok"]);
  });

  it("waits for earlier writes, is refused when its turn comes, and delays later writes until then", () => {
    const { stdin, answers, write } = make();
    for (const text of ["a", "long", "b"]) write(text);
    expect(answers).toEqual(["a accepted"]);
    stdin.take();
    expect(answers).toEqual(["a accepted", "long LIMIT_EXCEEDED", "b accepted"]);
    expect(stdin.received).toEqual(["a", "b"]);
  });

  it("is accepted if the terminal is raw when its turn comes", () => {
    const { stdin, answers, write } = make();
    for (const text of ["a", "long"]) write(text);
    stdin.canonical = false;
    stdin.take();
    expect([answers, stdin.received]).toEqual([
      ["a accepted", "long accepted"],
      ["a", "long"],
    ]);
  });

  it("does not use up its write id", () => {
    const { stdin, answers, write } = make();
    write("long", "w1");
    write("ok", "w1");
    write("ok", "w1");
    expect(answers).toEqual(["long LIMIT_EXCEEDED", "ok accepted", "ok accepted"]);
    expect(stdin.received).toEqual(["ok"]);
  });

  it("is answered if the child exits before its turn", () => {
    const { queue, answers, write } = make();
    for (const text of ["a", "long"]) write(text);
    queue.break();
    expect(answers).toEqual(["a accepted", "long stdinClosed"]);
  });

  it("is acknowledged again if it was accepted before, in every mode of the terminal", () => {
    const { stdin, answers, write } = make();
    stdin.canonical = false;
    write("long", "w1");
    stdin.canonical = true;
    write("long", "w1");
    expect(answers).toEqual(["long accepted", "long accepted"]);
  });
});
