// Commands to a running process: none waits for another, and each reaches the child unchanged.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { output, seen } from "../../support/transcript.ts";

let host: FakeHost;
beforeEach(() => {
  const limits = { stdinQueueBytes: 4, retainedBytes: 100, chunkBytes: 10, mergeBelowBytes: 5, pauseLeaseMs: 1000 };
  host = new FakeHost({ limits });
});
afterEach(() => host.close());

describe("a command to a process", () => {
  it("does not wait behind a write that has no room", async () => {
    const { process, child } = await host.start({ pipeStdin: true });
    await process.write("full");
    let parked: string | undefined;
    const write = process.write("more").then((status) => {
      parked = status;
    });
    await process.signal("SIGINT", { scope: "process" });
    expect([child.calls, parked]).toEqual([["SIGINT process"], undefined]);
    child.stdin?.take();
    await write;
    expect([parked, child.stdin?.received]).toEqual(["accepted", ["full", "more"]]);
  });

  it("fails with what the child throws, and the process continues", async () => {
    const { process, child, events } = await host.start();
    child.kill = () => {
      throw new Error("EPERM");
    };
    await expect(process.signal("SIGTERM")).rejects.toThrow("EPERM");
    child.output("x");
    expect(events.map(seen)).toEqual([output(1, "stdout", "x")]);
  });

  it("copies the written bytes, so that the caller can reuse its buffer", async () => {
    const { process, child } = await host.start({ pipeStdin: true });
    await process.write("1");
    const buffer = Buffer.from("abc");
    const write = process.write(buffer);
    buffer.fill("x");
    await write;
    child.stdin?.take();
    expect(child.stdin?.received).toEqual(["1", "abc"]);
  });

  it("resizes a terminal, after the output before it, and is refused without one", async () => {
    const { process, child, events } = await host.start({ tty: true });
    child.output("a");
    child.output("b");
    await process.resize({ rows: 10, cols: 20 });
    const resized = { type: "resized", seq: 3, size: { rows: 10, cols: 20 } };
    expect(events.map(seen)).toEqual([output(1, "pty", "a"), output(2, "pty", "b"), resized]);
    expect(child.calls).toEqual(["resize 10x20"]);
    const piped = await host.start();
    await expect(piped.process.resize({ rows: 1, cols: 1 })).rejects.toMatchObject({ code: "UNSUPPORTED" });
  });
});

describe("a lossless reader that is behind", () => {
  /** Fills the log of a process whose reader has read nothing. */
  async function fill() {
    const { process, child } = await host.start();
    const reader = process.iterate({ delivery: "lossless" });
    for (let chunk = 0; chunk < 8; chunk += 1) child.output("0123456789");
    return { reader, child, process };
  }

  it("pauses the child, which continues once it has read", async () => {
    const { reader, child } = await fill();
    expect(child.calls).toEqual(["pause"]);
    for (let read = 0; read < 8; read += 1) await reader.next();
    expect(child.calls).toEqual(["pause", "resume"]);
  });

  it("resumes the child when it leaves", async () => {
    const { reader, child } = await fill();
    await reader.return();
    expect(child.calls).toEqual(["pause", "resume"]);
  });

  it("resumes the child if it did nothing for a whole lease", async () => {
    const { child } = await fill();
    host.clock.advance(999);
    expect(child.calls).toEqual(["pause"]);
    host.clock.advance(1);
    expect(child.calls).toEqual(["pause", "resume"]);
  });

  it("keeps the child paused as long as it renews its hold", async () => {
    const { reader, child } = await fill();
    for (let lease = 0; lease < 3; lease += 1) {
      reader.renew();
      host.clock.advance(1000);
    }
    expect(child.calls).toEqual(["pause"]);
    host.clock.advance(1000);
    expect(child.calls).toEqual(["pause", "resume"]);
  });
});
