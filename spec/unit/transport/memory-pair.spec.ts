// Both ends of a connection in one program.
import { describe, expect, it } from "@jest/globals";
import { memoryPair } from "../../../lib/transport/memory-pair.ts";
import type { Transport } from "../../../lib/transport/transport.ts";
import { nextTurn } from "../../support/next-turn.ts";

/** Everything that an end received, in order. */
function listen(transport: Transport): string[] {
  const told: string[] = [];
  transport.listen({
    frame: (frame) => told.push(Buffer.from(frame).toString()),
    closed: (code, reason) => told.push(`closed ${code} ${reason}`),
  });
  return told;
}

describe("a memory pair", () => {
  it("delivers in order and asynchronously, in both directions", async () => {
    const [left, right] = memoryPair();
    const [toldLeft, toldRight] = [listen(left), listen(right)];
    for (const text of ["a", "b", "c"]) left.send(Buffer.from(text));
    right.send(Buffer.from("d"));
    expect([toldLeft, toldRight]).toEqual([[], []]);
    await nextTurn();
    expect([toldLeft, toldRight]).toEqual([["d"], ["a", "b", "c"]]);
  });

  it("keeps what arrives before `listen`, including the end", async () => {
    const [left, right] = memoryPair();
    left.send(Buffer.from("a"));
    left.close(4401, "no");
    await nextTurn();
    const told = listen(right);
    await nextTurn();
    expect(told).toEqual(["a", "closed 4401 no"]);
  });

  it("delivers what was sent before the close, nothing after it, and ends once at each end", async () => {
    const [left, right] = memoryPair();
    const told = [listen(left), listen(right)];
    left.send(Buffer.from("a"));
    left.close(1000, "bye");
    left.send(Buffer.from("b"));
    right.close(1001, "me too");
    await nextTurn();
    expect(told).toEqual([["closed 1000 bye"], ["a", "closed 1000 bye"]]);
  });

  it("delivers the bytes as they were when sent, even if the sender changes them later", async () => {
    const [left, right] = memoryPair();
    const told = listen(right);
    const bytes = Buffer.from("a");
    left.send(bytes);
    bytes[0] = 0;
    await nextTurn();
    expect(told).toEqual(["a"]);
  });

  it("calls `sent` for each frame, also after the end", async () => {
    const [left, right] = memoryPair();
    listen(left);
    listen(right);
    const sent: string[] = [];
    left.send(Buffer.from("a"), () => sent.push("a"));
    left.terminate();
    await nextTurn();
    left.send(Buffer.from("b"), () => sent.push("b"));
    await nextTurn();
    expect(sent).toEqual(["a", "b"]);
  });
});
