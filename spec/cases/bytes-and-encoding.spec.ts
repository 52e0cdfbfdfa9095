// Public bug reports about output as bytes: characters split over chunks, floods, order, and what terminals change.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { firstValueFrom, toArray } from "rxjs";
import type { Process } from "../../lib/process/process.ts";
import { text } from "../../lib/process/text.ts";
import type { OutputEvent } from "../../protocol/index.ts";
import { sha256 } from "../support/digest.ts";
import { bufferBytes } from "../support/memory.ts";
import { end, outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { makeScratch } from "../support/scratch.ts";
import { settled } from "../support/system-wait.ts";
import { describeCases } from "./describe-cases.ts";

const MIB = 1024 * 1024;
/** Bytes, each printed by a write(2) of its own. */
const ONE_BY_ONE = sh("exec dd if=/dev/zero bs=1 count=300000 2>/dev/null");
const scratch = makeScratch();

describeCases("output", ({ start }) => {
  const textOf = async (process: Process) => (await firstValueFrom(text(process).pipe(toArray()))).join("");
  const outputs = async (process: Process): Promise<OutputEvent[]> => {
    const found: OutputEvent[] = [];
    for await (const event of process) if (event.type === "output") found.push(event);
    return found;
  };

  it("P43 a character printed in two halves is decoded as one, for every reader and from each seq", async () => {
    const process = await start({ argv: sh("printf 'a\\342\\202'; read _; printf '\\254b'"), pipeStdin: true });
    const early = textOf(process);
    await printed(process, "a");
    await process.write("\n");
    expect(await early).toBe("a€b");
    expect(await textOf(process)).toBe("a€b");
    const whole = await outputs(process);
    expect(whole.map(({ chunk }) => Buffer.from(chunk).toString("hex"))).toEqual(["61e282", "ac62"]);
    const late = await firstValueFrom(process.events({ afterSeq: 1 }));
    expect(late).toEqual(whole[1]);
  });

  it("P46 many tiny writes become few events, whose seqs have no holes", async () => {
    const process = await start({ argv: ONE_BY_ONE });
    const seqs: number[] = [];
    let bytes = 0;
    for await (const event of process) {
      seqs.push(event.type === "gap" ? 0 : event.seq);
      if (event.type === "output") bytes += event.chunk.length;
    }
    expect(bytes).toBe(300_000);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    // At most one per millisecond while the log is followed.
    expect(seqs.length).toBeLessThan(20_000);
  });

  it("P48 stdout and stderr keep their order on one pipe", async () => {
    const script = sh("echo 1; echo 2 >&2; echo 3; echo 4 >&2");
    const merged = Array.from({ length: 20 }, async () => outcome(await start({ argv: script, merge: true })));
    const seen = (await Promise.all(merged)).map(({ stdout, stderr }) => [stdout, stderr]);
    expect(seen).toEqual(Array(20).fill(["1\n2\n3\n4\n", ""]));
    expect(await outcome(await start({ argv: script }))).toMatchObject({ stdout: "1\n3\n", stderr: "2\n4\n" });
  });

  it("P49 a terminal ends lines with carriage return and newline", async () => {
    const process = await start({ argv: ["printf", "a\\nb\\n"], tty: true });
    expect((await outcome(process)).pty).toBe("a\r\nb\r\n");
  });

  it("P49 a raw terminal changes no byte", async () => {
    const bytes = randomBytes(65_536);
    writeFileSync(scratch("random"), bytes);
    const found = await outputs(await start({ argv: ["cat", scratch("random")], tty: { raw: true } }));
    expect(sha256(...found.map(({ chunk }) => chunk))).toBe(sha256(bytes));
  });
});

const BUDGET = 2 * MIB;
const COUNT = 4;

describeCases(
  "output that nobody reads",
  ({ supports, start }) => {
    /** The increase since `before`; what is no longer used is freed within some turns of the event loop. */
    const grownBy = async (before: number, bound: number) =>
      settled(
        () => bufferBytes() - before,
        (bytes) => bytes < bound,
        5_000,
      );

    it("P46 costs no more than its bytes, even if they came one at a time", async () => {
      const before = bufferBytes();
      const process = await start({ argv: ONE_BY_ONE });
      await end(process);
      const bound = 2 * MIB;
      expect(await grownBy(before, bound)).toBeLessThan(bound);
      const { chunks, nextSeq } = await process.read();
      expect(chunks.reduce((sum, { chunk }) => sum + chunk.length, 0)).toBe(300_000);
      expect(nextSeq).toBeLessThan(20_000);
    });

    it("P45 is retained within one bound for all processes, and nowhere else", async () => {
      const before = bufferBytes();
      const argv = ["head", "-c", String(8 * MIB), "/dev/zero"];
      const processes = await Promise.all(Array.from({ length: COUNT }, () => start({ argv })));
      for (const process of processes) await end(process);
      // A client has a copy of each: what its replica retains.
      const copies = supports.retainsExactly ? 0 : COUNT * MIB;
      const bound = BUDGET + copies + 2 * MIB;
      expect(await grownBy(before, bound)).toBeLessThan(bound);
      if (!supports.retainsExactly) return;
      let kept = 0;
      for (const process of processes) for (const { chunk } of (await process.read()).chunks) kept += chunk.length;
      expect(kept).toBeLessThanOrEqual(BUDGET);
    });
  },
  { memoryBudgetBytes: BUDGET },
);
