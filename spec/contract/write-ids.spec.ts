// Write ids: a client that lost a reply can repeat a write without writing twice.
import { expect, it } from "@jest/globals";
import type { Process } from "../../lib/process/process.ts";
import { outcome } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { describeBackends } from "./backends.ts";

describeBackends("write ids", ({ needs, start }) => {
  const cat = () => start({ argv: ["cat"], pipeStdin: true });
  /** Joins its lines of input; a dot ends it. */
  const join = () =>
    start({ argv: sh('while read -r line && [ "$line" != . ]; do printf %s "$line"; done'), pipeStdin: true });
  const printedBy = async (process: Process) => {
    await process.write(".\n");
    return (await outcome(process)).stdout;
  };

  it("acknowledges a retried write without writing twice", async () => {
    const process = await join();
    const write = () => process.write("once\n", { writeId: "1" });
    expect([await write(), await write(), await write()]).toEqual(["accepted", "accepted", "accepted"]);
    expect(await Promise.all([write(), write()])).toEqual(["accepted", "accepted"]);
    expect(await printedBy(process)).toBe("once");
  });

  it("writes the same bytes again under another id, or under none", async () => {
    const process = await join();
    await process.write("a\n", { writeId: "1" });
    await process.write("a\n", { writeId: "2" });
    await process.write("a\n");
    await process.write("a\n");
    expect(await printedBy(process)).toBe("aaaa");
  });

  it("treats text and its bytes as the same write", async () => {
    const process = await join();
    await process.write("é\n", { writeId: "1" });
    expect(await process.write(Uint8Array.of(0xc3, 0xa9, 0x0a), { writeId: "1" })).toBe("accepted");
    expect(await printedBy(process)).toBe("é");
  });

  it("refuses other bytes under a used id, and delivers only the first", async () => {
    const process = await join();
    await process.write("first\n", { writeId: "1" });
    const refused = { code: "WRITE_ID_CONFLICT", data: { writeId: "1" } };
    expect(await refusal(process.write("second\n", { writeId: "1" }))).toEqual(refused);
    expect(await printedBy(process)).toBe("first");
  });

  needs("closesPipes")("acknowledges a retry also after stdin was closed or the process has ended", async () => {
    const process = await cat();
    await process.write("x", { writeId: "1" });
    await process.closeStdin();
    expect(await process.write("x", { writeId: "1" })).toBe("accepted");
    expect(await process.write("x", { writeId: "2" })).toBe("stdinClosed");
    expect((await outcome(process)).stdout).toBe("x");
    expect(await process.write("x", { writeId: "1" })).toBe("accepted");
    expect(await process.write("x", { writeId: "2" })).toBe("stdinClosed");
  });

  it("does not remember a write that was refused", async () => {
    const process = await start({ argv: ["true"], pipeStdin: true });
    await outcome(process);
    expect(await process.write("x", { writeId: "1" })).toBe("stdinClosed");
    expect(await process.write("y", { writeId: "1" })).toBe("stdinClosed");
  });

  it("keeps the ids of two processes apart", async () => {
    const [one, two] = await Promise.all([join(), join()]);
    await one.write("one\n", { writeId: "1" });
    expect(await two.write("two\n", { writeId: "1" })).toBe("accepted");
    expect([await printedBy(one), await printedBy(two)]).toEqual(["one", "two"]);
  });
});

describeBackends(
  "two write ids remembered",
  ({ needs, start }) => {
    needs("closesPipes", "ownHost")("forgets the oldest write id first", async () => {
      const process = await start({ argv: ["cat"], pipeStdin: true });
      for (const writeId of ["a", "b", "c", "b", "c", "a"]) await process.write(writeId, { writeId });
      await process.closeStdin();
      expect((await outcome(process)).stdout).toBe("abca");
    });
  },
  { writeIds: 2 },
);
