// Public bug reports about what remains of a process after its exit, for how long, and for which clients.
import { afterEach, describe, expect, it } from "@jest/globals";
import type { Process } from "../../lib/process/process.ts";
import { end, exitOf } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { openDescriptors } from "../support/system-facts.ts";
import { settled } from "../support/system-wait.ts";
import { closed, exited, output, transcript } from "../support/transcript.ts";
import { WireHost } from "../support/wire-host.ts";
import { describeCases } from "./describe-cases.ts";

const UNKNOWN = { code: "PROCESS_UNKNOWN", data: {} };

describeCases(
  "a process that is forgotten 100 ms after its end",
  (subject) => {
    const { start } = subject;

    /** Waits until the host has removed a process. */
    const forgotten = async ({ id }: Process) => {
      const list = await settled(
        () => subject.backend.list(),
        (infos) => infos.every(({ processId }) => processId !== id),
      );
      expect(list.map(({ processId }) => processId)).not.toContain(id);
    };

    it("P03 the retention time begins at the end, not at the exit: output between them arrives", async () => {
      const process = await start({ argv: sh("printf A; (sleep 0.3; printf B) & exit 0") });
      const events = transcript(process);
      const { seq } = await exitOf(process);
      // Neither empty nor repeated: a read that waits after the exit waits for later output.
      const read = await process.read({ afterSeq: seq, waitMs: 20_000 });
      expect(read.chunks.map(({ chunk }) => Buffer.from(chunk).toString())).toEqual(["B"]);
      expect(await events).toEqual([
        output(1, "stdout", "A"),
        exited(2),
        output(3, "stdout", "B"),
        closed(4, { stdout: 2 }),
      ]);
    });

    it("P12 a reader that pauses at the exit loses nothing, however long it pauses", async () => {
      const process = await start({ argv: ["head", "-c", "16777216", "/dev/zero"] });
      let hasExited = false;
      process.exit$.subscribe(() => {
        hasExited = true;
      });
      let [bytes, pauses] = [0, 0];
      for await (const event of process) {
        if (event.type === "output") bytes += event.chunk.length;
        if (event.type === "closed") expect(event.bytes.stdout).toBe(bytes);
        if (!hasExited || pauses > 0) continue;
        pauses += 1;
        // Five times as long as the host keeps a closed process.
        await end(await start({ argv: ["sleep", "0.5"] }));
      }
      expect([bytes, pauses]).toEqual([16_777_216, 1]);
    });

    it("P12 a reader that paused until its process was removed can read to the end", async () => {
      const process = await start({ argv: ["head", "-c", "500000", "/dev/zero"] });
      let bytes = 0;
      for await (const event of process) {
        if (bytes === 0) await forgotten(process);
        if (event.type === "output") bytes += event.chunk.length;
        if (event.type === "closed") expect(event.bytes.stdout).toBe(500_000);
      }
      expect(bytes).toBe(500_000);
    });

    it("P16 a process id is not a pid, and running, ended and unknown are three different answers", async () => {
      const process = await start({ argv: ["sleep", "200"] });
      expect(process.id).toMatch(/^[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}$/);
      expect((await subject.backend.attach(process.id)).info).toMatchObject({ state: "running", exitCode: null });
      await process.signal("SIGKILL");
      await exitOf(process);
      const late = await subject.backend.attach(process.id);
      expect(await exitOf(late)).toMatchObject({ exitCode: null, signal: "SIGKILL" });
      await forgotten(process);
      expect(await refusal(subject.backend.attach(process.id))).toEqual(UNKNOWN);
    });
  },
  { closedRetentionMs: 100 },
);

const KEPT = { processes: 20, bytes: 1_000_000 };

describeCases(
  "processes that are over",
  (subject) => {
    const { start } = subject;

    it("P15 give the same answer each time, and are bounded in number and size", async () => {
      const once = async () => {
        const process = await start({ argv: sh("head -c 100000 /dev/zero; exit 7") });
        const exits = [await exitOf(process), await exitOf(process)];
        await end(process);
        return [...exits, await exitOf(process)].map(({ exitCode, signal }) => ({ exitCode, signal }));
      };
      await once();
      const before = openDescriptors();
      for (let count = 0; count < 100; count += 10) {
        const answers = await Promise.all(Array.from({ length: 10 }, once));
        expect(answers.flat()).toEqual(Array(30).fill({ exitCode: 7, signal: null }));
      }
      const kept = await settled(
        () => subject.backend.list(),
        ({ length }) => length === KEPT.processes,
      );
      expect(kept.map(({ exitCode }) => exitCode)).toEqual(Array(KEPT.processes).fill(7));
      let bytes = 0;
      for (const { processId } of kept) {
        const { chunks, exitCode, closed: isClosed } = await (await subject.backend.attach(processId)).read();
        expect([exitCode, isClosed]).toEqual([7, true]);
        for (const { chunk } of chunks) bytes += chunk.length;
      }
      expect(bytes).toBeGreaterThan(0);
      expect(bytes).toBeLessThanOrEqual(KEPT.bytes);
      // A client that reconnects may have two connections for a moment.
      const isAsBefore = (now: number) => now <= before;
      expect(await settled(openDescriptors, isAsBefore)).toBeLessThanOrEqual(before);
    });
  },
  { closedProcesses: KEPT.processes, closedBytes: KEPT.bytes },
);

describe("a process whose client is gone", () => {
  let host: WireHost;
  afterEach(() => host.close());

  it("P16 is found by a later client, while it runs and after its end", async () => {
    host = await WireHost.open();
    const first = await host.connect();
    const { id } = await first.start({ argv: ["/bin/sleep", "200"], onDetach: "keep" });
    first.link.close();
    const second = await (await host.connect()).attach(id);
    expect(second.info.state).toBe("running");
    await second.signal("SIGTERM");
    await end(second);
    const third = await (await host.connect()).attach(id);
    expect(await exitOf(third)).toMatchObject({ exitCode: null, signal: "SIGTERM" });
  });
});
