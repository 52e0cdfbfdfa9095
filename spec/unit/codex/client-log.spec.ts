// The log of a process, made from what an exec-server sends: out of order, twice, or not at all.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import type { Process } from "../../../lib/process/process.ts";
import { CodexClientWorld, HOLE_MS } from "../../support/codex-client.ts";
import { readAnswer } from "../../support/codex-script.ts";
import { refusal } from "../../support/refusal.ts";
import { closed, exited, output, type Seen, seen, transcript } from "../../support/transcript.ts";

describe("the log of a process at an exec-server", () => {
  let world: CodexClientWorld;
  beforeEach(async () => {
    world = await CodexClientWorld.open();
  });
  afterEach(() => world.close());

  /** What a subscriber has received once the client has handled everything that the server sent. */
  const told = async (process: Process): Promise<Seen[]> => {
    await world.server.taken();
    const deliveries: Seen[] = [];
    process
      .events()
      .subscribe((delivery) => deliveries.push(seen(delivery)))
      .unsubscribe();
    return deliveries;
  };
  /** Answers the next read, and returns its params. */
  const answerRead = async (...answer: Parameters<typeof readAnswer>) =>
    (await world.server.answer("process/read", readAnswer(...answer))).params;

  it("orders events that arrive out of order, also before the reply to the start", async () => {
    const starting = world.backend.start({ argv: ["program"], processId: "p", cwd: "/" });
    const { id } = await world.server.next("process/start");
    world.server.output(2, "b");
    world.server.closed(5);
    world.server.say({ id, result: { processId: "p", sandboxType: "none" } });
    world.server.output(3, "c", "stderr");
    world.server.output(1, "a");
    world.server.exited(4, 7);
    expect(await transcript(await starting)).toEqual([
      output(1, "stdout", "a"),
      output(2, "stdout", "b"),
      output(3, "stderr", "c"),
      exited(4, { exitCode: 7, result: "error" }),
      closed(5, { stdout: 2, stderr: 1 }),
    ]);
    expect(world.server.methods).toEqual(["process/start"]);
  });

  it("fails at a second exit, and keeps the first", async () => {
    const twice = await world.start();
    world.server.exited(1, 0);
    world.server.exited(2, 1);
    expect(await refusal(firstValueFrom(twice.closed$))).toEqual({ code: "PROTOCOL_VIOLATION", data: {} });
    expect(await firstValueFrom(twice.exit$)).toMatchObject({ seq: 1, exitCode: 0 });
  });

  it.each([2 ** 32, -(2 ** 31) - 1, 0.5])(
    "disconnects from a server that sends an impossible exit code: %p",
    async (code) => {
      const process = await world.start();
      world.server.exited(1, code);
      expect(await refusal(firstValueFrom(process.exit$))).toMatchObject({ code: "PROTOCOL_VIOLATION" });
      expect(world.backend.link.state).toBe("closed");
    },
  );

  it("ignores duplicates, other processes, and unknown messages", async () => {
    const process = await world.start();
    world.server.output(1, "a");
    world.server.output(1, "a");
    world.server.output(2, "x", "stdout", "stranger");
    world.server.say({ method: "network/policyDecision", params: { processId: "p" } });
    world.server.say({ id: 4711, result: {} });
    world.server.output(3, "c");
    world.server.output(3, "c");
    world.server.output(2, "b");
    expect(await told(process)).toEqual([output(1, "stdout", "a"), output(2, "stdout", "b"), output(3, "stdout", "c")]);
  });

  it("reads the events of a hole that stays open, and finds exit and end by their seqs", async () => {
    const process = await world.start();
    world.server.output(1, "a");
    world.server.output(3, "c");
    expect(await told(process)).toEqual([output(1, "stdout", "a")]);
    world.clock.advance(HOLE_MS);
    const facts = { exited: true, exitCode: 3, closed: true };
    const asked = await answerRead(
      7,
      [
        [2, "b"],
        [3, "c"],
        [5, "e"],
      ],
      facts,
    );
    expect(asked).toEqual({ processId: "p", afterSeq: 1, maxBytes: null, waitMs: 0 });
    expect(await transcript(process)).toEqual([
      output(1, "stdout", "a"),
      output(2, "stdout", "b"),
      output(3, "stdout", "c"),
      exited(4, { exitCode: 3, result: "error" }),
      output(5, "stdout", "e"),
      closed(6, { stdout: 4 }),
    ]);
  });

  it("does not consider events lost that may still be on their way", async () => {
    const process = await world.start();
    world.server.output(3, "c");
    await world.server.taken();
    world.clock.advance(HOLE_MS);
    await answerRead(4, [[3, "c"]]);
    world.server.output(1, "a");
    world.server.output(2, "b");
    expect(await told(process)).toEqual([output(1, "stdout", "a"), output(2, "stdout", "b"), output(3, "stdout", "c")]);
    world.clock.advance(10 * HOLE_MS);
    await world.server.taken();
    expect(world.server.methods).toEqual(["process/start", "process/read"]);
  });

  it("reports a gap for events that neither arrive nor are retained, and continues", async () => {
    const process = await world.start();
    world.server.output(1, "a");
    world.server.output(4, "d");
    for (let question = 0; question < 2; question += 1) {
      await world.server.taken();
      world.clock.advance(HOLE_MS);
      await answerRead(5, [[4, "d"]]);
    }
    world.server.output(5, "e");
    const gap = { type: "gap", firstSeq: 2, lastSeq: 3 } as const;
    expect(await told(process)).toEqual([
      output(1, "stdout", "a"),
      gap,
      output(4, "stdout", "d"),
      output(5, "stdout", "e"),
    ]);
  });

  it("reads at once when its window overflows, and then knows what is lost", async () => {
    const process = await world.start();
    for (let seq = 3; seq <= 515; seq += 1) world.server.output(seq, ".");
    await answerRead(
      516,
      Array.from({ length: 500 }, (_, index) => [index + 16, "."]),
    );
    world.server.output(516, "!");
    const events = await told(process);
    expect(events[0]).toEqual({ type: "gap", firstSeq: 1, lastSeq: 15 });
    expect(events.slice(1).map((event) => event.type === "output" && event.seq)).toEqual(
      Array.from({ length: 501 }, (_, index) => index + 16),
    );
  });

  it("reads the events from before the reply to the start if its window has overflowed", async () => {
    const starting = world.backend.start({ argv: ["program"], processId: "p", cwd: "/" });
    const { id } = await world.server.next("process/start");
    for (let seq = 1; seq <= 600; seq += 1) world.server.output(seq, ".");
    world.server.say({ id, result: { processId: "p", sandboxType: "none" } });
    await answerRead(
      601,
      Array.from({ length: 600 }, (_, index) => [index + 1, "."]),
    );
    world.server.exited(601);
    world.server.closed(602);
    const events = await transcript(await starting);
    expect([events.length, events.at(-1)]).toEqual([602, closed(602, { stdout: 600 })]);
  });

  it("puts the exit at the end of a lost range of which nothing else is known", async () => {
    const process = await world.start();
    world.server.output(1, "a");
    world.server.closed(6);
    for (let question = 0; question < 2; question += 1) {
      await world.server.taken();
      world.clock.advance(HOLE_MS);
      await answerRead(7, [], { exited: true, exitCode: 0, closed: true });
    }
    expect(await transcript(process)).toEqual([
      output(1, "stdout", "a"),
      { type: "gap", firstSeq: 2, lastSeq: 4 },
      exited(5),
      closed(6, { stdout: 1 }),
    ]);
  });

  it("accepts a seq without output, which our own server sends for a resize", async () => {
    const process = await world.start({ tty: true });
    world.server.output(1, "a", "pty");
    world.server.output(2, "", "pty");
    world.server.output(3, "b", "pty");
    expect(await told(process)).toEqual([output(1, "pty", "a"), output(2, "pty", ""), output(3, "pty", "b")]);
  });

  it("fails if the server has removed a process before it reported the end", async () => {
    const process = await world.start();
    world.server.output(2, "b");
    await world.server.taken();
    world.clock.advance(HOLE_MS);
    await world.server.refuse("process/read", -32600, "unknown process id p");
    await expect(transcript(process)).rejects.toMatchObject({ code: "PROCESS_UNKNOWN" });
  });

  it.each([
    ["an unknown stream", { method: "process/output", params: { processId: "p", seq: 1, stream: "x", chunk: "" } }],
    ["a seq below 1", { method: "process/closed", params: { processId: "p", seq: 0 } }],
    [
      "bytes that are not base64",
      { method: "process/output", params: { processId: "p", seq: 1, stream: "pty", chunk: "?" } },
    ],
    ["an array", []],
    ["a message that the server could not read", { error: { code: -32600, message: "cannot parse" }, id: -1 }],
  ])("fails with the connection after %s", async (_what, message) => {
    const process = await world.start();
    world.server.say(message);
    await expect(transcript(process)).rejects.toMatchObject({ code: "PROTOCOL_VIOLATION" });
    expect(world.backend.link.state).toBe("closed");
  });

  it("fails a process whose end comes without an exit, and no other process", async () => {
    const process = await world.start();
    const other = await world.start({ processId: "other" });
    world.server.closed(1);
    await expect(transcript(process)).rejects.toMatchObject({ code: "PROTOCOL_VIOLATION" });
    world.server.exited(1, 0, "other");
    world.server.closed(2, "other");
    expect(await transcript(other)).toEqual([exited(1), closed(2)]);
  });
});
