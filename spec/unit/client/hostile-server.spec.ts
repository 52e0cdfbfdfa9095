// A hostile or broken server: none of its messages ends the program of its client, and impossible ones are not accepted.
import { describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import { connectOver } from "../../../lib/client/connect.ts";
import type { RemoteBackend } from "../../../lib/client/remote-backend.ts";
import { guardedClock } from "../../../lib/clock.ts";
import type { Process } from "../../../lib/process/process.ts";
import { decode, MIN_FRAME_BYTES } from "../../../protocol/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { refusal } from "../../support/refusal.ts";
import { closed, exited } from "../../support/transcript.ts";
import type { WirePeer } from "../../support/wire-peer.ts";
import { ScriptedServer } from "../../support/wire-script.ts";

const LIMITS = { sessionTtlMs: 80_000, pingMs: 1_000, frameBytes: 1_000_000, windowBytes: 524_288 };
const WELCOME = { type: "welcome", version: 1, sessionId: "session", secret: "secret", resumed: false, limits: LIMITS };
const violation = { code: "PROTOCOL_VIOLATION", data: {} };

class World {
  readonly clock = new FakeClock();
  readonly server = new ScriptedServer();
  client!: RemoteBackend;

  static async open(): Promise<World> {
    const world = new World();
    const connecting = connectOver(world.server.open, { clock: world.clock });
    await world.server.welcome();
    world.client = await connecting;
    return world;
  }

  get peer(): WirePeer {
    return this.server.peer;
  }

  say(message: object): void {
    this.peer.say(message as Parameters<WirePeer["say"]>[0]);
  }

  /** A running process; its events have the channel 1. */
  async start(more: object = {}): Promise<Process> {
    const starting = this.client.start({ argv: ["true"] });
    starting.catch(() => undefined);
    const request = await this.peer.next("request");
    const { incarnation } = request.params as { incarnation: string };
    const facts = { state: "running", argv: ["true"], cwd: "/", tty: false, stdin: false, startedAt: 0, labels: {} };
    const process = { ...facts, processId: incarnation, incarnation, exitCode: null, signal: null, sandbox: "none" };
    this.say({ type: "reply", id: request.id, result: { process: { ...process, ...more }, channel: 1 } });
    return starting;
  }
}

/** How a reader ends when these messages follow a valid welcome. */
async function answerTo(...messages: readonly object[]): Promise<unknown> {
  const world = await World.open();
  const process = await world.start();
  const end = refusal(firstValueFrom(process.closed$));
  for (const message of messages) world.say(message);
  expect((await world.peer.closed).code).toBe(4400);
  expect(world.client.link.state).toBe("closed");
  return end;
}

describe("a server that violates the protocol", () => {
  it("loses its client with a second welcome, and no timer throws because of its limits", async () => {
    const world = await World.open();
    const process = await world.start();
    const reading = process.iterate({ delivery: "lossless" });
    world.say({
      type: "event",
      channel: 1,
      event: { type: "output", seq: 1, stream: "stdout", chunk: Buffer.alloc(9) },
    });
    await reading.next();
    world.say({ ...WELCOME, limits: { ...LIMITS, frameBytes: MIN_FRAME_BYTES } });
    expect((await world.peer.closed).code).toBe(4400);
    const next = reading.next();
    next.catch(() => undefined);
    expect(() => world.clock.advance(60_000)).not.toThrow();
    expect(await refusal(next)).toEqual(violation);
  });

  it.each([
    ["frames that are too small for a process", { frameBytes: MIN_FRAME_BYTES - 1 }],
    ["an enormous window", { windowBytes: 2 ** 40 }],
    ["no window", { windowBytes: 0 }],
    ["a ping every millisecond", { pingMs: 1 }],
    ["a ping interval that no timer can wait", { pingMs: 2 ** 31 }],
  ])("is refused with limits that no client can accept: %s", async (_what, limits) => {
    const server = new ScriptedServer();
    const connecting = refusal(connectOver(server.open));
    await server.welcome({ limits: { ...LIMITS, ...limits } });
    expect(await connecting).toEqual(violation);
  });

  it("is refused when its first message is not a welcome", async () => {
    const server = new ScriptedServer();
    const connecting = refusal(connectOver(server.open));
    await nextTurn();
    server.peer.say({ type: "reply", id: 1, result: {} });
    expect(await connecting).toEqual(violation);
  });

  const output = { type: "output", seq: 1, stream: "stdout", chunk: Buffer.from("x") };
  const event = (inner: object) => ({ type: "event", channel: 1, event: inner });
  const gap = (firstSeq: number, lastSeq: number) => ({
    type: "gap",
    channel: 1,
    gap: { type: "gap", firstSeq, lastSeq },
  });
  it.each<[what: string, messages: object[]]>([
    ["a second exit", [event(exited(1)), event(exited(2))]],
    ["an exit that differs from its announcement", [{ type: "exit", channel: 1, event: exited(2) }, event(exited(1))]],
    [
      "two announcements that differ",
      [
        { type: "exit", channel: 1, event: exited(2) },
        { type: "exit", channel: 1, event: exited(3) },
      ],
    ],
    ["closed without an exit", [event(closed(1))]],
    ["a gap that contains the announced exit", [{ type: "exit", channel: 1, event: exited(2) }, gap(1, 5)]],
    ["a gap that goes backwards", [gap(2, 1)]],
    ["an exit code of 2^32", [event(exited(1, { exitCode: 2 ** 32 }))]],
    ["a signal of escape characters", [event(exited(1, { exitCode: null, signal: "\x1b[31mSIGKILL" }))]],
    ["a signal that is no signal", [event(exited(1, { exitCode: null, signal: "banana" }))]],
    ["empty output", [event({ ...output, chunk: Buffer.alloc(0) })]],
    ["output that is text", [event({ ...output, chunk: "text" })]],
    ["output with a negative seq", [event({ ...output, seq: -1 })]],
    ["an error without a code", [{ type: "failed", channel: 1, error: { code: "__proto__", message: "" } }]],
    [
      "an error with nested data",
      [{ type: "failed", channel: 1, error: { code: "INTERNAL", message: "", data: { a: {} } } }],
    ],
    [
      "a process without a command",
      [
        {
          type: "change",
          process: { processId: "p", incarnation: "i", state: "running", exitCode: null, signal: null },
        },
      ],
    ],
  ])("loses its client for good after %s", async (_what, messages) => {
    expect(await answerTo(...messages)).toMatchObject({
      code: expect.stringMatching("PROTOCOL_VIOLATION|CONNECTION_LOST"),
    });
  });

  it.each([
    ["another incarnation", { incarnation: "another" }],
    ["another id", { processId: "\x1b[2Janother" }],
    ["a start time that no date has", { startedAt: 1e300 }],
    ["labels that are not strings", { labels: { a: 1 } }],
    ["an argv that is not an array", { argv: "true" }],
  ])("loses its client when it answers a start with %s", async (_what, more) => {
    const world = await World.open();
    expect(await refusal(world.start(more))).toEqual(violation);
    expect((await world.peer.closed).code).toBe(4400);
  });

  it("cannot keep its client busy with an endless list of processes", async () => {
    const world = await World.open();
    const list = refusal(world.client.list());
    const request = await world.peer.next("request");
    world.say({ type: "reply", id: request.id, result: { processes: [], next: "again" } });
    expect(await list).toEqual(violation);
  });

  it("loses its client when it welcomes a reconnect with another session", async () => {
    const world = await World.open();
    const process = await world.start();
    const end = refusal(firstValueFrom(process.closed$));
    world.peer.transport.close(1006, "");
    await nextTurn();
    world.clock.advance(1_000);
    await nextTurn();
    await world.server.welcome({ sessionId: "another" });
    expect(await end).toEqual({ code: "CONNECTION_LOST", data: { reason: "session-unknown" } });
  });

  it("gets one pong at a time while it does not read", async () => {
    const server = new ScriptedServer();
    const leave: (() => void)[] = [];
    const pongs: unknown[] = [];
    const connecting = connectOver(async () => {
      const transport = await server.open();
      const send = (frame: Uint8Array, sent?: () => void) => {
        const message = decode(frame) as { type: string };
        if (message.type !== "pong") return transport.send(frame, sent);
        pongs.push(message);
        if (sent) leave.push(sent);
      };
      return {
        listen: (handlers) => transport.listen(handlers),
        send,
        close: (code, reason) => transport.close(code, reason),
        terminate: () => transport.terminate(),
      };
    });
    await server.welcome();
    const client = await connecting;
    const flood = async () => {
      for (let count = 0; count < 100; count += 1) server.peer.say({ type: "ping" });
      await nextTurn();
      return pongs.length;
    };
    expect(await flood()).toBe(1);
    leave.pop()?.();
    expect(await flood()).toBe(2);
    client.link.close();
  });
});

describe("the clock of a client", () => {
  it("reports errors thrown by a timer, which would otherwise end the program", () => {
    const clock = new FakeClock();
    const reported: unknown[] = [];
    const error = new Error("a bug");
    guardedClock(clock, (thrown) => reported.push(thrown)).after(10, () => {
      throw error;
    });
    clock.advance(10);
    expect(reported).toEqual([error]);
  });
});
