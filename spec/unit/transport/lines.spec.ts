// Frames as lines: each line is one frame, however the bytes are cut, and nothing waits for a peer that does not read.
import { PassThrough, Writable } from "node:stream";
import { describe, expect, it } from "@jest/globals";
import { peekFirstByte } from "../../../lib/transport/first-byte.ts";
import { lineTransport } from "../../../lib/transport/lines.ts";
import { nextTurn } from "../../support/next-turn.ts";

function open(output: Writable = new PassThrough(), lineBytes = 10) {
  const input = new PassThrough();
  const transport = lineTransport(input, output, lineBytes);
  const frames: string[] = [];
  const closed = new Promise<number>((resolve) => {
    transport.listen({ frame: (frame) => frames.push(Buffer.from(frame).toString()), closed: (code) => resolve(code) });
  });
  return { input, output, transport, frames, closed };
}

describe("a transport of lines", () => {
  it("delivers each line once, however it is cut, without its ending, and no blank lines", async () => {
    const { input, frames } = open();
    for (const piece of ["a", "b\nc", "d\r", "\n\n \t\r\n", "e\nf\n"]) input.write(piece);
    await nextTurn();
    expect(frames).toEqual(["ab", "cd", "e", "f"]);
  });

  it("delivers a last line without a newline, and then the end", async () => {
    const { input, frames, closed } = open();
    input.end("one\ntwo");
    expect(await closed).toBe(1006);
    expect(frames).toEqual(["one", "two"]);
  });

  it("writes a line for each frame, and reports when it has left", async () => {
    const { output, transport } = open();
    await new Promise<void>((resolve) => transport.send(Buffer.from("x"), resolve));
    transport.send(Buffer.from("y"));
    expect(String((output as PassThrough).read())).toBe("x\ny\n");
  });

  it("closes with 1009 at a line that is too long, and delivers nothing more", async () => {
    const { input, frames, closed } = open();
    input.write("0123456789x");
    input.write("\nmore\n");
    expect(await closed).toBe(1009);
    expect(frames).toEqual([]);
  });

  it("does not wait long for a peer that does not read when it closes", async () => {
    const stuck = new Writable({ write: () => undefined, highWaterMark: 1 });
    const { transport, closed } = open(stuck);
    transport.send(Buffer.from("never read"));
    transport.close(1001, "the server stops");
    expect(await closed).toBe(1006);
  });
});

describe("the first byte of a stream", () => {
  it("is read and left in the stream", async () => {
    const input = new PassThrough();
    input.write("{rest");
    expect(await peekFirstByte(input)).toBe("{".charCodeAt(0));
    expect(String(input.read())).toBe("{rest");
  });

  it("is undefined if the stream ends before it", async () => {
    const input = new PassThrough();
    input.end();
    expect(await peekFirstByte(input)).toBeUndefined();
  });
});
