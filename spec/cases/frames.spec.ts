// Reported bugs of protocols: how a client handles frames that are truncated, unknown or of another version.
import { afterEach, describe, expect, it } from "@jest/globals";
import { firstValueFrom, lastValueFrom, toArray } from "rxjs";
import { connectOver } from "../../lib/client/connect.ts";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import type { Process } from "../../lib/process/process.ts";
import { encodeEvent, type ProcessEvent } from "../../protocol/index.ts";
import { refusal } from "../support/refusal.ts";
import { closed, exited } from "../support/transcript.ts";
import type { Message, WirePeer } from "../support/wire-peer.ts";
import { ScriptedServer } from "../support/wire-script.ts";

const CHANNEL = 1;
const exit = exited(1, { exitCode: 7, result: "error" });
const violation = { code: "PROTOCOL_VIOLATION", data: {} };

const clients: RemoteBackend[] = [];
// Otherwise each client would try for its whole recovery time to reconnect to a server that sends nothing more.
afterEach(() => {
  for (const client of clients.splice(0)) client.link.close();
});

/** A client that is connected to a server scripted by the spec. */
async function letIn(): Promise<{ client: RemoteBackend; peer: WirePeer }> {
  const server = new ScriptedServer();
  const connecting = connectOver(server.open);
  await server.welcome();
  const client = await connecting;
  clients.push(client);
  return { client, peer: server.peer };
}

/** The info that a correct server sends for a process that was just started. */
function processOf({ params }: Message) {
  const { incarnation } = params as { incarnation: string };
  const facts = { state: "running", argv: ["true"], cwd: "/", tty: false, stdin: false, startedAt: 0, labels: {} };
  return { ...facts, processId: incarnation, incarnation, exitCode: null, signal: null, sandbox: "none" };
}

/** A process of such a server. */
async function startThere(): Promise<{ process: Process; peer: WirePeer }> {
  const { client, peer } = await letIn();
  const starting = client.start({ argv: ["true"] });
  const request = await peer.next("request");
  const result = { process: processOf(request), channel: CHANNEL };
  peer.say({ type: "reply", id: request.id as number, result });
  return { process: await starting, peer };
}

/** The error that everything waiting for an end receives. */
function waiters(process: Process): Promise<unknown[]> {
  const waiting = [firstValueFrom(process.exit$), firstValueFrom(process.closed$), lastValueFrom(process.events())];
  return Promise.all(waiting.map((promise) => refusal(promise)));
}

describe("frames", () => {
  it.each<[what: string, event: object]>([
    ["without its code and signal", { type: "exited", seq: 1, result: "success", reason: "exited" }],
    ["without its code", { ...exit, exitCode: undefined }],
    ["with a code that is text", { ...exit, exitCode: "7" }],
    ["with a code that is not a whole number", { ...exit, exitCode: 0.5 }],
    ["with an impossible code", { ...exit, exitCode: 2 ** 40 }],
    ["with a code and a signal", { ...exit, signal: "SIGKILL" }],
    ["with a signal that is a number", { ...exit, exitCode: null, signal: 9 }],
    ["without a result", { ...exit, result: undefined }],
    ["of an unknown type", { ...exit, type: "ended" }],
  ])("P51 an exit %s is a violation, and is never reported as a success", async (_what, event) => {
    const { process, peer } = await startThere();
    const told = waiters(process);
    const fields = Object.entries(event).filter(([, value]) => value !== undefined);
    peer.say({ type: "event", channel: CHANNEL, event: Object.fromEntries(fields) as ProcessEvent });
    expect(await told).toEqual([violation, violation, violation]);
    expect(await peer.closed).toMatchObject({ code: 4400 });
    expect(process.info).toMatchObject({ state: "running", exitCode: null, signal: null });
  });

  it("P51 an exit frame that is truncated at any byte is a protocol violation", async () => {
    const frame = encodeEvent(CHANNEL, exit);
    for (let length = 0; length < frame.length; length += 1) {
      const { process, peer } = await startThere();
      const told = waiters(process);
      peer.sendBytes(frame.subarray(0, length));
      expect([length, ...(await told)]).toEqual([length, violation, violation, violation]);
    }
  });

  it("P51 an exit code is read correctly from every integer format of msgpack", async () => {
    const frame = Buffer.from(encodeEvent(CHANNEL, exit));
    const at = frame.indexOf("exitCode") + "exitCode".length;
    const widths = ["07", "cc07", "cd0007", "ce00000007", "cf0000000000000007", "d007", "d10007", "cb401c000000000000"];
    for (const width of widths) {
      const { process, peer } = await startThere();
      peer.sendBytes(Buffer.concat([frame.subarray(0, at), Buffer.from(width, "hex"), frame.subarray(at + 1)]));
      expect(await firstValueFrom(process.exit$)).toEqual(exit);
    }
  });

  it("P51 messages and fields of a later version are ignored", async () => {
    const { process, peer } = await startThere();
    const later = { ...exit, coreDumped: true };
    peer.say({ type: "weather", channel: CHANNEL, event: { ...exit, exitCode: 0 } } as never);
    peer.say({ type: "event", channel: CHANNEL, event: later, moment: 1 } as never);
    peer.say({ type: "event", channel: CHANNEL, event: closed(2) });
    expect(await firstValueFrom(process.events().pipe(toArray()))).toEqual([later, closed(2)]);
  });

  it("P51 a server of another version is refused with VERSION_UNSUPPORTED", async () => {
    const server = new ScriptedServer();
    const connecting = refusal(connectOver(server.open));
    await server.welcome({ version: 2 });
    expect(await connecting).toMatchObject({ code: "VERSION_UNSUPPORTED" });
  });

  it.each<[what: string, call: (process: Process, client: RemoteBackend) => Promise<unknown>]>([
    ["start", (_process, client) => client.start({ argv: ["true"] })],
    ["attach", (_process, client) => client.attach("any")],
    ["list", (_process, client) => client.list()],
    ["read", (process) => process.read()],
    ["write", (process) => process.write("x")],
    ["closeStdin", (process) => process.closeStdin()],
    ["terminate", (process) => process.terminate()],
    ["holders", (process) => process.holders()],
    ["activity", (process) => process.activity()],
  ])("P51 an empty result of %s is a violation", async (_what, call) => {
    const { client, peer } = await letIn();
    const starting = client.start({ argv: ["true"] });
    const request = await peer.next("request");
    peer.say({ type: "reply", id: request.id as number, result: { process: processOf(request), channel: CHANNEL } });
    const answer = refusal(call(await starting, client));
    const { id } = await peer.next("request");
    peer.say({ type: "reply", id: id as number, result: {} });
    expect(await answer).toEqual(violation);
    expect(await peer.closed).toMatchObject({ code: 4400 });
  });
});
