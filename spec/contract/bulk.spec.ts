// Large output: nothing is changed, nothing is lost without a gap, and a slow reader does not affect the others.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { open } from "node:fs/promises";
import { expect, it } from "@jest/globals";
import { firstValueFrom, map, toArray } from "rxjs";
import { type LinesOptions, lines } from "../../lib/process/lines.ts";
import type { Process } from "../../lib/process/process.ts";
import { type TextOptions, text } from "../../lib/process/text.ts";
import type { Delivery, GapNotice } from "../../protocol/index.ts";
import { sha256 } from "../support/digest.ts";
import { end, exitOf } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { closed, exited, gap, output, seen, transcript } from "../support/transcript.ts";
import { describeBackends } from "./backends.ts";

const MIB = 1024 * 1024;
const QUIET_MS = 500;
const scratch = makeScratch();
const eightMiB = randomBytes(8 * MIB);
writeFileSync(scratch("8-mib"), eightMiB);
/**
 * More than sockets buffer (a kernel may grow a receive buffer above 32 MiB of base64), less than the 40 MiB that a server keeps
 * for a Codex client without a connection: a process that prints this must wait for its reader, and nothing of it is lost.
 */
const muchData = randomBytes(39 * MIB);
writeFileSync(scratch("39-mib"), muchData);

/** Reads all chunks and counts lost bytes; checks that the seqs have no holes. */
async function readAll(deliveries: AsyncIterable<Delivery>, after = 0) {
  const chunks: Uint8Array[] = [];
  let lost = 0;
  let seq = after;
  for await (const delivery of deliveries) {
    expect(delivery.type === "gap" ? delivery.firstSeq : delivery.seq).toBe(seq + 1);
    seq = delivery.type === "gap" ? delivery.lastSeq : delivery.seq;
    if (delivery.type === "gap") lost += delivery.bytes ?? Number.NaN;
    if (delivery.type === "output") chunks.push(delivery.chunk);
  }
  return { chunks, lost };
}

/** Waits until a process prints nothing more; returns whether it is still running. */
async function isHeldBack(process: Process): Promise<boolean> {
  for (let afterSeq = 0; ; ) {
    const { nextSeq, exited } = await process.read({ afterSeq, waitMs: QUIET_MS });
    if (exited) return false;
    if (nextSeq === afterSeq + 1) return true;
    afterSeq = nextSeq - 1;
  }
}

describeBackends("large output", (subject) => {
  const { supports, start } = subject;
  const startCat = () => start({ argv: ["cat", scratch("8-mib")] });
  // Paced, so that the process does not reach its end during a short cut, in which some servers do not make it wait.
  const paced = 'for i in $(seq 39); do dd bs=1048576 count=1 iflag=fullblock status=none; sleep 0.03; done < "$1"';
  const startMuch = (merge = false) => start({ argv: sh(paced, scratch("39-mib")), merge });

  it("arrives unchanged, with 10 MB of random bytes", async () => {
    const bytes = randomBytes(10_000_000);
    writeFileSync(scratch("10-mb"), bytes);
    const process = await start({ argv: ["cat", scratch("10-mb")] });
    const { chunks, lost } = await readAll(process);
    expect([sha256(...chunks), lost]).toEqual([sha256(bytes), 0]);
    expect((await firstValueFrom(process.closed$)).bytes).toEqual({ stdout: 10_000_000, stderr: 0, pty: 0 });
  });

  it("arrives on two streams at once, each in order", async () => {
    const process = await start({ argv: sh('cat "$1" & cat "$1" >&2; wait', scratch("8-mib")) });
    const streams: Record<string, Uint8Array[]> = { stdout: [], stderr: [] };
    for await (const event of process) if (event.type === "output") streams[event.stream]?.push(event.chunk);
    const digest = sha256(eightMiB);
    expect(Object.values(streams).map((chunks) => sha256(...chunks))).toEqual([digest, digest]);
  });

  const pipes: [string, boolean][] = supports.merge ? [["one pipe", true]] : [];

  it.each([["two pipes", false], ...pipes] as const)(
    "waits for a lossless reader and is complete, on %s",
    async (_what, merge) => {
      const process = await startMuch(merge);
      const reader = process.iterate({ delivery: "lossless" });
      await reader.next();
      expect(await isHeldBack(process)).toBe(true);
      const [first] = (await process.read({ maxBytes: 1 })).chunks;
      expect(first?.seq).toBe(1);
      const { chunks, lost } = await readAll(reader, 1);
      expect([sha256(first?.chunk as Uint8Array, ...chunks), lost]).toEqual([sha256(muchData), 0]);
      expect(await exitOf(process)).toMatchObject({ exitCode: 0 });
    },
  );

  it("waits by default for the caller of start, and not for the caller of attach", async () => {
    // More than passes during a short cut of the connection.
    const startMore = () => start({ argv: ["head", "-c", `${100 * MIB}`, "/dev/zero"] });
    const process = await startMore();
    const owner = process[Symbol.asyncIterator]();
    await owner.next();
    expect(await isHeldBack(process)).toBe(true);
    await owner.return();
    await end(process);
    const watched = await startMore();
    // Its starter waits in another way than by reading.
    const exit = firstValueFrom(watched.exit$);
    const viewer = (await subject.backend.attach(watched.id))[Symbol.asyncIterator]();
    await viewer.next();
    expect(await isHeldBack(watched)).toBe(false);
    await exit;
  });

  it("waits from the start on for a loop of its starter that begins later, and loses nothing", async () => {
    const process = await startMuch();
    expect(await isHeldBack(await subject.backend.attach(process.id))).toBe(true);
    const chunks: Uint8Array[] = [];
    for await (const event of process) {
      expect(event.type).not.toBe("gap");
      if (event.type === "output") chunks.push(event.chunk);
    }
    expect(sha256(...chunks)).toBe(sha256(muchData));
  });

  it("does not wait for a starter that awaits its exit instead", async () => {
    const process = await startMuch();
    expect(await exitOf(process)).toMatchObject({ exitCode: 0 });
  });

  it("does not wait for a viewer, which gets gaps of exactly the missed bytes", async () => {
    const process = await startCat();
    const viewer = (await subject.backend.attach(process.id)).iterate({ delivery: "gap" });
    const first = (await viewer.next()).value as Delivery;
    await end(process);
    const { chunks, lost } = await readAll(viewer, 1);
    const kept = Buffer.concat(chunks);
    expect(first).toMatchObject({ type: "output", seq: 1 });
    expect(lost).toBe(8 * MIB - (first.type === "output" ? first.chunk.length : 0) - kept.length);
    expect(lost).toBeGreaterThan(0);
    expect(sha256(kept)).toBe(sha256(eightMiB.subarray(-kept.length)));
  });

  it("gives a viewer gaps while a lossless reader of the same process loses nothing", async () => {
    const process = await startCat();
    // Before any output can be evicted: much may arrive in the turn of the first event of the viewer.
    const reader = process.iterate({ delivery: "lossless" });
    const viewer = process.iterate({ delivery: "gap" });
    await viewer.next();
    const { chunks, lost } = await readAll(reader);
    expect([sha256(...chunks), lost]).toEqual([sha256(eightMiB), 0]);
    expect((await readAll(viewer, 1)).lost).toBeGreaterThan(0);
  });

  it("can be cut short by terminate while it waits for a lossless reader", async () => {
    const process = await startMuch();
    const reader = process.iterate({ delivery: "lossless" });
    await reader.next();
    expect(await isHeldBack(process)).toBe(true);
    await process.terminate({ graceMs: 0 });
    expect(await exitOf(process)).toMatchObject(subject.killed);
    const { lost } = await readAll(reader, 1);
    expect(lost).toBe(0);
  });
});

describeBackends(
  "a lease of 200 ms",
  ({ start, supports }) => {
    it("ends the wait for a lossless reader that stops, which gets a gap when it reads again", async () => {
      const process = await start({ argv: ["cat", scratch("8-mib")] });
      const reader = process.iterate({ delivery: "lossless" });
      const first = (await reader.next()).value as Delivery;
      expect(await exitOf(process)).toMatchObject({ exitCode: 0 });
      await end(process);
      const { chunks, lost } = await readAll(reader, 1);
      const length = [first.type === "output" ? first.chunk : new Uint8Array(), ...chunks].reduce(
        (sum, chunk) => sum + chunk.length,
        0,
      );
      // NaN with a gap of unknown size.
      expect(lost).not.toBe(0);
      if (supports.sizesEveryGap) expect(length + lost).toBe(8 * MIB);
    });
  },
  { pauseLeaseMs: 200 },
);

describeBackends(
  "a log of 4,000 bytes",
  ({ start, supports }) => {
    /** A closed process that printed ten chunks of a thousand bytes; the log keeps the last four. */
    const printTen = async () => {
      const script = 'while read -r n && [ "$n" != . ]; do printf "%01000d" "$n"; done';
      const process = await start({ argv: sh(script), pipeStdin: true });
      for (let n = 0; n < 10; n += 1) {
        await process.write(`${n}\n`);
        await process.read({ afterSeq: n, waitMs: 10_000 });
      }
      await process.write(".\n");
      await end(process);
      return process;
    };
    const piece = (n: number) => `${n}`.padStart(1000, "0");
    const kept = [6, 7, 8, 9].map((n) => output(n + 1, "stdout", piece(n)));

    it("reports the exact gap to a late reader, in events, output$ and iteration", async () => {
      const process = await printTen();
      const all = [gap(1, 6, 6000), ...kept, exited(11), closed(12, { stdout: 10_000 })];
      expect(await transcript(process)).toEqual(all);
      expect(await firstValueFrom(process.output$.pipe(map(seen), toArray()))).toEqual(all.slice(0, 5));
      const iterated = [];
      for await (const delivery of process) iterated.push(seen(delivery));
      expect(iterated).toEqual(all);
    });

    it("reports only the rest of the gap to a reader that starts inside it, and none to one that starts after it", async () => {
      const process = await printTen();
      expect((await transcript(process, 3))[0]).toMatchObject({ type: "gap", firstSeq: 4, lastSeq: 6 });
      expect(await transcript(process, 6)).toEqual([...kept, exited(11), closed(12, { stdout: 10_000 })]);
    });

    it("marks lost output in text and lines; or skips it, fails, or puts other text in its place", async () => {
      const process = await printTen();
      const textWith = async (options: TextOptions) =>
        (await firstValueFrom(text(process, options).pipe(toArray()))).join("");
      const linesWith = (options: LinesOptions) => firstValueFrom(lines(process, options).pipe(toArray()));
      const rest = [6, 7, 8, 9].map(piece).join("");
      const notice = gap(1, 6, 6000);
      const mark = "[... 6000 bytes omitted ...]";
      const last = { stream: "stdout", seq: 10, text: rest };
      expect(await textWith({})).toBe(`${mark}\n${rest}`);
      expect(await linesWith({})).toEqual([{ stream: "stdout", seq: 6, text: mark, gap: notice }, last]);
      expect(await textWith({ onGap: "skip" })).toBe(rest);
      expect(await linesWith({ onGap: "skip" })).toEqual([last]);
      const onGap = ({ bytes }: GapNotice) => `[${bytes} lost]`;
      expect(await textWith({ onGap })).toBe(`[6000 lost]${rest}`);
      expect(await linesWith({ onGap })).toEqual([
        { stream: "stdout", seq: 6, text: "[6000 lost]", gap: notice },
        last,
      ]);
      const lost = { code: "OUTPUT_LOST", data: { firstSeq: 1, lastSeq: 6 } };
      expect(await refusal(textWith({ onGap: "error" }))).toEqual(lost);
      expect(await refusal(linesWith({ onGap: "error" }))).toEqual(lost);
    });

    it("begins text and lines after a seq", async () => {
      const process = await printTen();
      const shown = await firstValueFrom(text(process, { afterSeq: 9 }).pipe(toArray()));
      expect(shown).toEqual([piece(9)]);
      const found = await firstValueFrom(lines(process, { afterSeq: 8 }).pipe(toArray()));
      expect(found).toEqual([{ stream: "stdout", seq: 10, text: piece(8) + piece(9) }]);
    });

    if (supports.retainsExactly) {
      it("keeps the exit when later output evicts all events before it", async () => {
        // The job reads a fifo, because a shell gives its background jobs no stdin.
        const script = 'mkfifo "$1"; echo before; { while read -r n; do printf "%01000d" "$n"; done < "$1"; } & exit 3';
        const fifo = scratch(uniqueName("fifo"));
        const process = await start({ argv: sh(script, fifo) });
        const exit = await exitOf(process);
        // Opening for reading and writing never blocks.
        const writer = await open(fifo, "r+");
        for (let n = 0; n < 6; n += 1) {
          await writer.write(`${n}\n`);
          await process.read({ afterSeq: n + 2, waitMs: 10_000 });
        }
        await writer.close();
        expect(await transcript(process)).toEqual([
          gap(1, 1, 7),
          exit,
          gap(3, 4, 2000),
          ...[2, 3, 4, 5].map((n) => output(n + 3, "stdout", piece(n))),
          closed(9, { stdout: 6007 }),
        ]);
        expect(exit).toEqual(exited(2, { exitCode: 3, result: "error" }));
      });
    }
  },
  { retainedBytes: 4000 },
);
