// For every reply of a server and all notifications before it: the recovered events have no
// hole, invent nothing, and lose nothing that the server or the client has.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { RawEvent, ReadReply } from "../../../lib/codex/client/answers.ts";
import { recover } from "../../../lib/codex/client/recover.ts";
import { ReorderWindow } from "../../../lib/codex/client/reorder-window.ts";
import { runs } from "../../support/fuzz.ts";

/** A process: the seq of its exit, whether it is closed, what the server retains, and what the client has. */
const lives = fc
  .record({
    outputs: fc.integer({ min: 0, max: 12 }),
    exitAt: fc.nat(12),
    ends: fc.constantFrom("runs", "exited", "closed"),
  })
  .chain(({ outputs, exitAt, ends }) => {
    const events: RawEvent[] = Array.from({ length: outputs }, () => ({
      type: "output",
      seq: 0,
      stream: "stdout",
      chunk: Buffer.alloc(1),
    }));
    const exit: RawEvent = { type: "exited", seq: 0, exitCode: 7, sandboxDenied: false };
    if (ends !== "runs") events.splice(Math.min(exitAt, outputs), 0, exit);
    if (ends === "closed") events.push({ type: "closed", seq: 0 });
    const life = events.map((event, index) => ({ ...event, seq: index + 1 }));
    return fc.record({
      life: fc.constant(life),
      head: fc.nat(life.length),
      kept: fc.nat(life.length + 1),
      pushed: fc.subarray(life),
    });
  });

function replyOf(life: readonly RawEvent[], head: number, kept: number): ReadReply {
  const exit = life.find(({ type }) => type === "exited");
  return {
    chunks: life.flatMap((event) =>
      event.type === "output" && event.seq > Math.max(head, kept) ? [{ ...event, chunk: event.chunk as Buffer }] : [],
    ),
    nextSeq: life.length + 1,
    exited: exit !== undefined,
    exitCode: exit?.type === "exited" ? (exit.exitCode ?? undefined) : undefined,
    closed: life.at(-1)?.type === "closed",
    failure: undefined,
    sandboxDenied: false,
  };
}

describe("recovered events", () => {
  it("cover all seqs after the head, with every retained or received event, and exit and end wherever they are", () => {
    fc.assert(
      fc.property(lives, ({ life, head, kept, pushed }) => {
        const window = new ReorderWindow();
        for (const event of pushed) if (event.seq > head) window.put(event);
        const exit = life.find(({ type }) => type === "exited");
        const exitIsKnown = exit !== undefined && exit.seq <= head;
        const recovered = recover(replyOf(life, head, kept), head, exitIsKnown, window);
        let seq = head;
        for (const event of recovered) {
          expect(event.type === "gap" ? event.firstSeq : event.seq).toBe(seq + 1);
          seq = event.type === "gap" ? event.lastSeq : event.seq;
          if (event.type === "output") expect(event).toEqual(life[seq - 1]);
        }
        expect(seq).toBe(life.length);
        const has = (type: string) => recovered.filter((event) => event.type === type).length;
        expect(has("exited")).toBe(exit && !exitIsKnown ? 1 : 0);
        expect(has("closed")).toBe(life.at(-1)?.type === "closed" && head < life.length ? 1 : 0);
        const there = life.filter(
          (event) => event.seq > head && event.type === "output" && (event.seq > kept || pushed.includes(event)),
        );
        const found = new Set(recovered.flatMap((event) => (event.type === "output" ? [event.seq] : [])));
        expect(there.filter((event) => !found.has(event.seq))).toEqual([]);
      }),
      runs(2_000),
    );
  });

  it("are found without a loop over all seqs if a server sends an absurd seq", () => {
    const reply = { ...replyOf([], 0, 0), nextSeq: Number.MAX_SAFE_INTEGER };
    const lost = { type: "gap", firstSeq: 1, lastSeq: Number.MAX_SAFE_INTEGER - 1 };
    expect(recover(reply, 0, false, new ReorderWindow())).toEqual([lost]);
  });
});
