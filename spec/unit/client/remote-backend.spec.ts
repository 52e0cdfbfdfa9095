// A client's bookkeeping of the processes of a scripted server: what it keeps of each, and for how long.
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

  it("keeps nothing of one that is used no more", async () => {
    const log = new WeakRef((await attached()).log);
    await remove();
    const isKept = () => {
      collect();
      return log.deref() !== undefined;
    };
    expect(await settled(isKept, (kept) => !kept, 2_000)).toBe(false);
  });

  /** Reads a process whose end is on its way when it is removed. */
  async function readingWhileRemoved() {
    const process = await attached();
    const end = refusal(firstValueFrom(process.closed$));
    const { id } = await server.peer.next("request");
    server.peer.say({ type: "reply", id: id as number, result: { channel: 1 } });
    await remove();
    return end;
  }

  it("ends a reader that has not come to the end when the client closes", async () => {
    const end = readingWhileRemoved();
    await nextTurn();
    client.link.close();
    expect(await end).toEqual({ code: "CLOSED", data: {} });
  });

  it("asks again after a lost connection for a reader that has not come to the end", async () => {
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
