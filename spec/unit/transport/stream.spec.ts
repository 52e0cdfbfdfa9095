// Frames over byte streams: the frames are the same however the bytes are cut.
import { PassThrough } from "node:stream";
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import { streamTransport } from "../../../lib/transport/stream.ts";
import type { Transport } from "../../../lib/transport/transport.ts";
import { runs } from "../../support/fuzz.ts";
import { nextTurn } from "../../support/next-turn.ts";

const FRAME_BYTES = 1_000;

/** What one end received. */
interface Told {
  readonly frames: string[];
  closed: { code: number; reason: string } | undefined;
}

function listen(transport: Transport): Told {
  const told: Told = { frames: [], closed: undefined };
  transport.listen({
    frame: (frame) => told.frames.push(Buffer.from(frame).toString("hex")),
    closed: (code, reason) => {
      if (told.closed) throw new Error("closed twice");
      told.closed = { code, reason };
    },
  });
  return told;
}

/** Two ends with a stream in each direction. */
function pair() {
  const [there, back] = [new PassThrough(), new PassThrough()];
  const left = streamTransport(back, there, FRAME_BYTES);
  const right = streamTransport(there, back, FRAME_BYTES);
  return { left, right, there, back };
}

/** The bytes that a transport writes for these calls. */
function written(act: (transport: Transport) => void): Buffer {
  const output = new PassThrough();
  act(streamTransport(new PassThrough(), output, FRAME_BYTES));
  return (output.read() as Buffer | null) ?? Buffer.alloc(0);
}

describe("a transport over streams", () => {
  it("puts 4 bytes of length before each frame", () => {
    expect(written((transport) => transport.send(Buffer.from("abc"))).toString("hex")).toBe("00000003616263");
  });

  it("closes with a record of its own: length 0, code, length of the reason, reason", () => {
    const bytes = written((transport) => transport.close(4409, "taken"));
    expect(bytes.toString("hex")).toBe(`00000000${(4409).toString(16)}0005${Buffer.from("taken").toString("hex")}`);
  });

  it("delivers the same frames however their bytes are cut, then the close with its code", async () => {
    const frame = fc.uint8Array({ minLength: 1, maxLength: 50 });
    await fc.assert(
      fc.asyncProperty(
        fc.array(frame, { maxLength: 20 }),
        fc.infiniteStream(fc.integer({ min: 1, max: 30 })),
        async (frames, sizes) => {
          const bytes = written((transport) => {
            for (const each of frames) transport.send(each);
            transport.close(4404, "ünknown");
          });
          const input = new PassThrough();
          const told = listen(streamTransport(input, new PassThrough(), FRAME_BYTES));
          for (let at = 0; at < bytes.length; ) {
            const size = sizes.next().value as number;
            input.write(bytes.subarray(at, at + size));
            at += size;
          }
          while (!told.closed) await nextTurn();
          expect(told.frames).toEqual(frames.map((each) => Buffer.from(each).toString("hex")));
          expect(told.closed).toEqual({ code: 4404, reason: "ünknown" });
        },
      ),
      runs(200),
    );
  });

  it("refuses a frame that is too big with 1009 before its bytes arrive, and reports that at both ends", async () => {
    const { left, right } = pair();
    const [told, toldRight] = [listen(left), listen(right)];
    left.send(new Uint8Array(FRAME_BYTES));
    left.send(new Uint8Array(FRAME_BYTES + 1));
    left.send(new Uint8Array(1));
    await nextTurn();
    await nextTurn();
    expect(toldRight.frames.map((hex) => hex.length / 2)).toEqual([FRAME_BYTES]);
    expect(toldRight.closed?.code).toBe(1009);
    expect(told.closed?.code).toBe(1009);
  });

  it("accepts frames up to the given limit, from the next one on, and never above its own maximum", async () => {
    const { left, right } = pair();
    const told = { frames: [] as number[], code: 0 };
    right.limitFrames?.(10);
    right.listen({
      frame: (frame) => {
        told.frames.push(frame.length);
        if (frame.length === 10) right.limitFrames?.(FRAME_BYTES * 10);
      },
      closed: (code) => {
        told.code = code;
      },
    });
    listen(left);
    left.send(new Uint8Array(9));
    await nextTurn();
    for (const bytes of [10, FRAME_BYTES, FRAME_BYTES + 1]) left.send(new Uint8Array(bytes));
    await nextTurn();
    await nextTurn();
    expect(told).toEqual({ frames: [9, 10, FRAME_BYTES], code: 1009 });
  });

  it("closes with 1006 if the stream ends in the middle of a frame", async () => {
    const { left, there } = pair();
    const told = listen(streamTransport(there, new PassThrough(), FRAME_BYTES));
    left.send(Buffer.from("whole"));
    there.write(Buffer.from([0, 0, 0, 9, 1]));
    there.end();
    await nextTurn();
    expect(told.frames).toEqual([Buffer.from("whole").toString("hex")]);
    expect(told.closed?.code).toBe(1006);
  });

  it("delivers what was sent before the close, and nothing that was sent after it", async () => {
    const { left, right } = pair();
    const told = listen(right);
    listen(left);
    left.send(Buffer.from("a"));
    left.close(1000, "");
    left.send(Buffer.from("b"));
    await nextTurn();
    await nextTurn();
    expect(told).toEqual({ frames: ["61"], closed: { code: 1000, reason: "" } });
  });

  it("calls `sent` for each frame that has left, and for none that never will", async () => {
    const { left, right } = pair();
    listen(left);
    listen(right);
    const sent: number[] = [];
    left.send(Buffer.from("a"), () => sent.push(1));
    await nextTurn();
    left.terminate();
    left.send(Buffer.from("b"), () => sent.push(2));
    await nextTurn();
    expect(sent).toEqual([1]);
  });

  it("is closed at once by terminate, at both ends", async () => {
    const { left, right } = pair();
    const told = [listen(left), listen(right)];
    left.terminate();
    await nextTurn();
    await nextTurn();
    expect(told.map(({ closed }) => closed?.code)).toEqual([1006, 1006]);
  });
});
