// What a frame keeps in memory while it waits to be sent: its own bytes.
import { describe, expect, it } from "@jest/globals";
import { decode, encode, encodeEvent, type ProcessEvent } from "../../protocol/index.ts";

const output = (bytes: number): ProcessEvent => ({
  type: "output",
  seq: 1,
  stream: "stdout",
  chunk: new Uint8Array(bytes).fill(7),
});

describe("a frame", () => {
  it("keeps no buffer of an earlier, larger one", () => {
    const large = encode({
      type: "reply",
      id: 1,
      result: { chunks: Array.from({ length: 32 }, () => output(64 * 1024)) },
    } as never);
    expect(large.buffer.byteLength).toBe(large.length);
    const pong = encode({ type: "pong" });
    // A slab that small frames share.
    expect(pong.buffer.byteLength).toBeLessThanOrEqual(64 * 1024);
    expect(decode(large)).toMatchObject({ type: "reply", id: 1 });
    expect(decode(pong)).toEqual({ type: "pong" });
  });

  it.each([0, 1, 255, 256, 4095, 4096, 65_535, 65_536, 1_000_000])(
    "of an event with a chunk of %d bytes is what any encoder makes of it",
    (bytes) => {
      const event = output(bytes);
      const frame = encodeEvent(3, event);
      // Compared by Buffer: jest would take seconds.
      expect(Buffer.compare(frame, encode({ type: "event", channel: 3, event }))).toBe(0);
      const { event: decoded } = decode(frame) as { event: { chunk: Uint8Array } };
      expect(Buffer.compare(decoded.chunk, new Uint8Array(bytes).fill(7))).toBe(0);
    },
  );
});
