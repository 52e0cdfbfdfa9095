// A client of a scripted server: what it keeps of each process and for how long, and how long it waits for a close.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import { connectOver } from "../../../lib/client/connect.ts";
import type { RemoteBackend } from "../../../lib/client/remote-backend.ts";
import { limits, type ProcessInfo } from "../../../protocol/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { collect } from "../../support/memory.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { refusal } from "../../support/refusal.ts";
import { settled } from "../../support/system-wait.ts";
import { ScriptedServer } from "../../support/wire-script.ts";

const info = (state: ProcessInfo["state"]): ProcessInfo => ({
  processId: "p",
  incarnation: "i",
  state,
  argv: ["program"],
  cwd: "/",
  sandbox: "none",
  labels: {},
  pid: 1,
  startedAt: 0,
  exitCode: null,
  signal: null,
  tty: false,
  stdin: false,
});

describe("a client of a server that removes a process", () => {
  const clock = new FakeClock();
  let server: ScriptedServer;
  let client: RemoteBackend;
  beforeEach(async () => {
    server = new ScriptedServer();
    const connecting = connectOver(server.open, { clock });
    await server.welcome();
    client = await connecting;
  });
  afterEach(() => client.link.close());

  /** A handle of the process. */
  async function attached() {
    const attaching = client.attach("p");
    const { id } = await server.peer.next("request");
    server.peer.say({ type: "reply", id: id as number, result: { process: info("running") } });
    return attaching;
  }

  async function remove(): Promise<void> {
    server.peer.say({ type: "change", process: info("removed") });
    await nextTurn();
  }

  it("keeps nothing of a removed process without readers", async () => {
    const log = new WeakRef((await attached()).log);
    await remove();
    const isKept = () => {
      collect();
      return log.deref() !== undefined;
    };
    expect(await settled(isKept, (kept) => !kept, 2_000)).toBe(false);
  });

  /** Reads a process that is removed before its end has arrived. */
  async function readingWhileRemoved() {
    const process = await attached();
    const end = refusal(firstValueFrom(process.closed$));
    const { id } = await server.peer.next("request");
    server.peer.say({ type: "reply", id: id as number, result: { channel: 1 } });
    await remove();
    return end;
  }

  it("fails an unfinished reader of a removed process when the client closes", async () => {
    const end = readingWhileRemoved();
    await nextTurn();
    client.link.close();
    expect(await end).toEqual({ code: "CLOSED", data: {} });
  });

  it("subscribes again after a lost connection for an unfinished reader of a removed process", async () => {
    const end = readingWhileRemoved();
    await nextTurn();
    server.peer.transport.close(1006, "");
    await nextTurn();
    clock.advance(limits.backoffFirstMs);
    await server.welcome();
    const { id, method } = await server.peer.next("request");
    expect(method).toBe("process/subscribe");
    const error = { code: "PROCESS_UNKNOWN", message: "it is gone", data: { processId: "p" } } as const;
    server.peer.say({ type: "reply", id: id as number, error });
    expect(await end).toEqual({ code: "PROCESS_UNKNOWN", data: { processId: "p" } });
  });
});

describe("a client that closes while its server answers pings", () => {
  const graceMs = 3_000;
  const clock = new FakeClock();
  let server: ScriptedServer;
  let client: RemoteBackend;
  let isClosed: boolean;
  let closing: Promise<void>;
  beforeEach(async () => {
    server = new ScriptedServer();
    const connecting = connectOver(server.open, { clock });
    await server.welcome();
    client = await connecting;
    isClosed = false;
    closing = client.close({ graceMs }).then(() => {
      isClosed = true;
    });
    await nextTurn();
  });
  afterEach(() => client.link.close());

  /** Lets time pass in which every ping gets its pong. */
  async function pass(ms: number): Promise<void> {
    for (let passed = 0; passed < ms; passed += 500) {
      clock.advance(500);
      server.peer.say({ type: "pong" });
      await nextTurn();
    }
  }

  it("does not wait for ever for a reply to session/close that never comes", async () => {
    await pass(2 * (graceMs + limits.closeDeadlineMs));
    await closing;
    expect([client.link.state, clock.armed]).toEqual(["closed", 0]);
  });

  it("waits for a reply that comes after the grace and the closeDeadlineMs of the server", async () => {
    const { id, method, params } = await server.peer.next("request");
    expect([method, params]).toEqual(["session/close", { graceMs }]);
    await pass(graceMs + limits.closeDeadlineMs + 2_000);
    expect([isClosed, client.link.state]).toEqual([false, "connected"]);
    server.peer.say({ type: "reply", id: id as number, result: {} });
    await closing;
    expect([client.link.state, clock.armed]).toEqual(["closed", 0]);
  });
});
