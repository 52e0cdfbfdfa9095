// A descriptor that is read to its end: every byte, and never from a descriptor that reused the number.
import { closeSync, fstatSync, writeSync } from "node:fs";
import { Socket } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { FdReader } from "../../../../lib/spawn/io/fd-reader.ts";
import { Libc } from "../../../../lib/spawn/posix/libc.ts";

const libc = new Libc();

/** A reader of a pipe that contains `text` and has no writer any more. */
function readToEnd(text: string) {
  const [fd, writer] = libc.pipe();
  writeSync(writer, text);
  closeSync(writer);
  const chunks: string[] = [];
  let stream: Socket | undefined;
  let onEnd: () => void = () => {};
  const ended = new Promise<void>((resolve) => {
    onEnd = resolve;
  });
  const open = (source: number, onread: object) => {
    stream = new Socket({ fd: source, readable: true, writable: false, onread } as never);
    return stream;
  };
  const onChunk = (chunk: Uint8Array) => void chunks.push(Buffer.from(chunk).toString());
  const reader = new FdReader(fd, open as never, new Uint8Array(1024), onChunk, () => onEnd());
  reader.start();
  return { fd, reader, chunks, ended, stream: stream as unknown as Socket };
}

describe("a descriptor being read", () => {
  it("delivers everything that was written, and then its end", async () => {
    const { chunks, ended, reader } = readToEnd("all of it");
    await ended;
    expect([chunks, reader.ended]).toEqual([["all of it"], true]);
  });

  it("reads nothing from a descriptor number that was reused", async () => {
    const { fd, stream, reader, chunks, ended } = readToEnd("mine");
    // Between the end and its event the number is free: the stream has closed it, and `close` comes turns later.
    await new Promise<void>((resolve) => stream.once("end", () => resolve()));
    while (!stream.destroyed) await Promise.resolve();
    const pipes = [];
    do pipes.push(libc.pipe());
    while (!pipes.flat().includes(fd) && pipes.length < 100);
    const [mine, theirs] = pipes.find((ends) => ends.includes(fd)) ?? [];
    expect([mine, theirs]).toContain(fd);
    writeSync(theirs as number, "theirs");
    closeSync(theirs as number);
    expect(reader.drain(1024)).toBe(true);
    expect(chunks).toEqual(["mine"]);
    await ended;
    for (const end of pipes.flat()) if (end !== theirs) closeSync(end);
  });

  it("can be drained and released before it ever reads by itself", () => {
    const [fd, writer] = libc.pipe();
    libc.unblock(fd);
    const told: string[] = [];
    const never = () => {
      throw new Error("no stream is needed");
    };
    const onChunk = (chunk: Uint8Array) => void told.push(Buffer.from(chunk).toString());
    const reader = new FdReader(fd, never, new Uint8Array(1024), onChunk, () => told.push("end"));
    writeSync(writer, "some");
    expect(reader.drain(1024)).toBe(false);
    closeSync(writer);
    expect(reader.drain(1024)).toBe(true);
    reader.destroy();
    reader.destroy();
    reader.start();
    expect(told).toEqual(["some", "end"]);
    expect(() => fstatSync(fd)).toThrow(/EBADF/);
  });

  it("has nothing to drain after it was released", async () => {
    const { reader, chunks, ended } = readToEnd("unread");
    reader.destroy();
    await ended;
    expect([reader.drain(1024), chunks]).toEqual([true, []]);
  });
});
