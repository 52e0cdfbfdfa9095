// Write ids: a client that lost the answer asks again and types nothing twice.
import { expect, it } from "@jest/globals";
import { outcome } from "../support/outcome.ts";
import { refusal } from "../support/refusal.ts";
import { describeBackends } from "./backends.ts";

describeBackends("write ids", ({ start }) => {
  const cat = () => start({ argv: ["cat"], pipeStdin: true });

  it("acknowledges a retried write without writing twice", async () => {
    const process = await cat();
    const write = () => process.write("once\n", { writeId: "1" });
    expect([await write(), await write(), await write()]).toEqual(["accepted", "accepted", "accepted"]);
    expect(await Promise.all([write(), write()])).toEqual(["accepted", "accepted"]);
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("once\n");
  });

  it("writes the same bytes again under another id, or under none", async () => {
    const process = await cat();
    await process.write("a", { writeId: "1" });
    await process.write("a", { writeId: "2" });
    await process.write("a");
    await process.write("a");
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("aaaa");
  });

  it("takes text and its bytes for the same write", async () => {
    const process = await cat();
    await process.write("é", { writeId: "1" });
    expect(await process.write(Uint8Array.of(0xc3, 0xa9), { writeId: "1" })).toBe("accepted");
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("é");
  });

  it("refuses other bytes under a used id, and delivers only the first", async () => {
    const process = await cat();
    await process.write("first", { writeId: "1" });
    const refused = { code: "WRITE_ID_CONFLICT", data: { writeId: "1" } };
    expect(await refusal(process.write("second", { writeId: "1" }))).toEqual(refused);
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("first");
  });

  it("acknowledges a retry also when stdin was closed or the process ended meanwhile", async () => {
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

  it("keeps the ids of one process apart from those of another", async () => {
    const [one, two] = await Promise.all([cat(), cat()]);
    await one.write("one", { writeId: "1" });
    expect(await two.write("two", { writeId: "1" })).toBe("accepted");
    await Promise.all([one.closeStdin(), two.closeStdin()]);
    expect([(await outcome(one)).stdout, (await outcome(two)).stdout]).toEqual(["one", "two"]);
  });
});

describeBackends(
  "two write ids remembered",
  ({ start }) => {
    it("forgets the oldest first", async () => {
      const process = await start({ argv: ["cat"], pipeStdin: true });
      for (const writeId of ["a", "b", "c", "b", "c", "a"]) await process.write(writeId, { writeId });
      await process.closeStdin();
      expect((await outcome(process)).stdout).toBe("abca");
    });
  },
  { writeIds: 2 },
);
