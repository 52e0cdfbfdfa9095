// Limits of a server: what it takes from its peers, how long it waits for them, how many there may be.
import { expect } from "@jest/globals";
import { encode, MIN_FRAME_BYTES } from "../../protocol/index.ts";
import { nextTurn } from "../support/next-turn.ts";
import { refusal } from "../support/refusal.ts";
import type { Message, WirePeer } from "../support/wire-peer.ts";
import { closeCode, FakeServer, type Role, type Row, TOKENS } from "./worlds.ts";

const OVERLOADED = { error: { code: "LIMIT_EXCEEDED", data: { limit: "requests" } } };

/** An address of a running process. */
async function running({ host }: FakeServer) {
  const { process } = await host.start();
  return { processId: process.id, incarnation: process.incarnation };
}

/** Asks twice for a read that waits; the second reply, if there is one by now. */
async function secondWait(server: FakeServer, peer: WirePeer): Promise<Message | undefined> {
  const params = { ...(await running(server)), waitMs: 60_000 };
  peer.request(1, "process/read", params);
  peer.request(2, "process/read", params);
  for (let turns = 0; turns < 5; turns += 1) await nextTurn();
  return peer.of("reply").find(({ id }) => id === 2);
}

/** The close code that answers a hello, or `welcome`. */
async function answer(peer: WirePeer): Promise<number | "welcome"> {
  const welcome = peer.next("welcome").then(() => "welcome" as const);
  return Promise.race([welcome, peer.closed.then(({ code }) => code)]).finally(() => welcome.catch(() => undefined));
}

/** What a new connection is answered. */
function hello(server: FakeServer, role: Role = "control"): Promise<number | "welcome"> {
  const peer = server.connect();
  peer.hello(TOKENS[role]);
  return answer(peer);
}

/** What a client is answered that comes back so long after its connection was lost. */
async function resumedAfter(server: FakeServer, ms: number, role: Role = "control"): Promise<number | "welcome"> {
  const lost = await server.greeted(role);
  const [welcome] = lost.of("welcome");
  lost.transport.terminate();
  await lost.closed;
  await nextTurn();
  server.host.clock.advance(ms);
  const peer = server.connect();
  const { sessionId, secret } = welcome as Message;
  peer.hello(TOKENS[role], { resume: { sessionId, secret, pending: [] } });
  return answer(peer);
}

/** The reply to a call that is kept until it is acknowledged, after another one that was not. */
async function afterUnacknowledged(first: WirePeer, second: WirePeer): Promise<Message> {
  const address = { processId: "p", incarnation: "i" };
  first.request(1, "process/terminate", address);
  await first.reply(1);
  second.request(2, "process/terminate", address);
  return second.reply(2);
}

export const connectionRows = {
  listBytes: [
    "a list without pages is shortened to it",
    async () => {
      const server = await FakeServer.open({ listBytes: 2_000 });
      for (let count = 0; count < 4; count += 1) await server.host.start({ argv: ["/fake/program", "x".repeat(900)] });
      const peer = await server.greeted();
      peer.request(1, "process/list");
      expect(encode((await peer.reply(1)) as never).length).toBeLessThan(2_000);
    },
  ],
  listPageBytes: [
    "a page ends before it",
    async () => {
      const server = await FakeServer.open({ listPageBytes: 3_000 });
      for (let count = 0; count < 4; count += 1) await server.host.start({ argv: ["/fake/program", "x".repeat(900)] });
      const peer = await server.greeted();
      peer.request(1, "process/list", { limit: 10 });
      expect(await peer.reply(1)).toMatchObject({ result: { processes: [{}], next: expect.any(String) } });
    },
  ],
  frameBytes: [
    "a larger frame closes the connection",
    async () => {
      const server = await FakeServer.open({ frameBytes: MIN_FRAME_BYTES });
      const peer = await server.greeted();
      peer.sendBytes(new Uint8Array(MIN_FRAME_BYTES + 1));
      expect(await closeCode(peer)).toBe(1009);
    },
  ],
  helloBytes: [
    "a larger hello closes the connection",
    async () => {
      const peer = (await FakeServer.open({ helloBytes: 100 })).connect();
      peer.hello(TOKENS.control, { padding: "x".repeat(100) });
      expect(await closeCode(peer)).toBe(1009);
    },
  ],
  viewFrameBytes: [
    "a larger frame of a viewer closes its connection",
    async () => {
      const peer = await (await FakeServer.open({ viewFrameBytes: 100 })).greeted("view");
      peer.sendBytes(new Uint8Array(101));
      expect(await closeCode(peer)).toBe(1009);
    },
  ],
  messageDepth: [
    "a message that is nested deeper is none, on either side",
    async () => {
      const server = await FakeServer.open({ messageDepth: 3 });
      const peer = await server.greeted();
      peer.request(1, "process/list", { a: { b: {} } });
      expect(await closeCode(peer)).toBe(4400);
      expect((await refusal(server.client({ messageDepth: 1 }))).code).toBe("PROTOCOL_VIOLATION");
    },
  ],
  messageValues: [
    "a message with more values is none, on either side",
    async () => {
      const server = await FakeServer.open({ messageValues: 20 });
      const peer = await server.greeted();
      peer.request(1, "process/list", { many: Array.from({ length: 20 }, () => 1) });
      expect(await closeCode(peer)).toBe(4400);
      expect((await refusal(server.client({ messageValues: 2 }))).code).toBe("PROTOCOL_VIOLATION");
    },
  ],
  handshakeMs: [
    "a connection without a hello is closed after it",
    async () => {
      const server = await FakeServer.open({ handshakeMs: 70 });
      const peer = server.connect();
      server.host.clock.advance(69);
      await nextTurn();
      expect(peer.closing).toBeUndefined();
      server.host.clock.advance(1);
      expect(await closeCode(peer)).toBe(4408);
    },
  ],
  pingMs: [
    "a silent peer is asked after it",
    async () => {
      const server = await FakeServer.open({ pingMs: 70 });
      const peer = await server.greeted();
      server.host.clock.advance(70);
      await peer.next("ping");
    },
  ],
  sessionTtlMs: [
    "a session ends so long after its connection",
    async () => {
      const server = await FakeServer.open({ sessionTtlMs: 70 });
      expect(await resumedAfter(server, 69)).toBe("welcome");
      expect(await resumedAfter(server, 70)).toBe(4404);
    },
  ],
  viewSessionTtlMs: [
    "the same for a viewer",
    async () => {
      const server = await FakeServer.open({ viewSessionTtlMs: 70 });
      expect(await resumedAfter(server, 69, "view")).toBe("welcome");
      expect(await resumedAfter(server, 70, "view")).toBe(4404);
    },
  ],
  windowBytes: [
    "a lossless subscriber is sent no more ahead of its acknowledgement",
    async () => {
      const server = await FakeServer.open({ windowBytes: 4, mergeBelowBytes: 0 });
      const peer = await server.greeted();
      const address = await running(server);
      peer.request(1, "process/subscribe", { ...address, afterSeq: 0, delivery: "lossless" });
      const { channel } = (await peer.reply(1)).result as { channel: number };
      for (const output of ["aaaa", "bbbb"]) server.host.spawner.children[0]?.output(output);
      await peer.next("event");
      await nextTurn();
      expect(peer.of("event").length).toBe(1);
      peer.say({ type: "ack", channel, seq: 1 });
      await peer.next("event");
    },
  ],
  requests: [
    "one more request is refused",
    async () => {
      const server = await FakeServer.open({ requests: 1 });
      expect(await secondWait(server, await server.greeted())).toMatchObject(OVERLOADED);
    },
  ],
  viewRequests: [
    "one more request of a viewer is refused",
    async () => {
      const server = await FakeServer.open({ viewRequests: 1 });
      expect(await secondWait(server, await server.greeted("view"))).toMatchObject(OVERLOADED);
    },
  ],
  requestOverheadBytes: [
    "a running request costs so much of what viewers may use",
    async () => {
      const server = await FakeServer.open({ requestOverheadBytes: 10_000, viewConnectionsBytes: 9_000 });
      expect(await secondWait(server, await server.greeted("view"))).toMatchObject(OVERLOADED);
    },
  ],
  sessionRepliesBytes: [
    "a session with more unacknowledged replies can ask for nothing more",
    async () => {
      const peer = await (await FakeServer.open({ sessionRepliesBytes: 10 })).greeted();
      expect(await afterUnacknowledged(peer, peer)).toMatchObject(OVERLOADED);
    },
  ],
  repliesBytes: [
    "nor can any, when all have more",
    async () => {
      const server = await FakeServer.open({ repliesBytes: 10 });
      expect(await afterUnacknowledged(await server.greeted(), await server.greeted())).toMatchObject(OVERLOADED);
    },
  ],
  connections: [
    "one more connection is refused",
    async () => {
      const server = await FakeServer.open({ connections: 1 });
      await server.greeted();
      expect(await hello(server)).toBe(1013);
    },
  ],
  viewConnections: [
    "one more viewer is refused while the others are busy",
    async () => {
      const server = await FakeServer.open({ viewConnections: 1 });
      const peer = await server.greeted("view");
      peer.request(1, "changes/watch");
      await peer.reply(1);
      expect(await hello(server, "view")).toBe(1013);
    },
  ],
  sessions: [
    "one more session is refused",
    async () => {
      const server = await FakeServer.open({ sessions: 1 });
      await server.greeted();
      expect(await hello(server)).toBe(1013);
    },
  ],
  viewSessions: [
    "one more session of a viewer is refused",
    async () => {
      const server = await FakeServer.open({ viewSessions: 1 });
      await server.greeted("view");
      expect(await hello(server, "view")).toBe(1013);
    },
  ],
} satisfies Record<string, Row>;
