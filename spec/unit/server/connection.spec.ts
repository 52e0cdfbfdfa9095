// One connection to a server, message by message, with fake children: the handshake, refusals, and the rights of roles.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type ExecwireServer, serve } from "../../../lib/server/server.ts";
import { memoryPair } from "../../../lib/transport/memory-pair.ts";
import { encode, type Limits } from "../../../protocol/index.ts";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { WirePeer } from "../../support/wire-peer.ts";

const TOKEN = "control me";
const VIEW_TOKEN = "look at me";
const HANDSHAKE_MS = 500;

describe("a connection to a server", () => {
  let host: FakeHost;
  let server: ExecwireServer;
  beforeEach(async () => {
    host = new FakeHost();
    await serveWith({});
  });
  afterEach(async () => {
    // The server ends the processes of its sessions; fake children end only as time passes.
    const closed = server.close();
    await nextTurn();
    await host.close();
    await closed;
  });

  async function serveWith(limits: Partial<Limits>): Promise<void> {
    server = await serve(host.supervisor, {
      auth: { kind: "token", token: TOKEN, viewToken: VIEW_TOKEN },
      clock: host.clock,
      limits: { handshakeMs: HANDSHAKE_MS, pingMs: 60_000, ...limits },
    });
  }

  function connect(): WirePeer {
    const [near, far] = memoryPair();
    server.accept(near);
    return new WirePeer(far);
  }

  async function greeted(token = TOKEN): Promise<WirePeer> {
    const peer = connect();
    peer.hello(token);
    await peer.next("welcome");
    return peer;
  }

  const spec = { argv: ["/fake/program"], processId: "p", pipeStdin: true };
  const at = { processId: "p", incarnation: "i" };

  it("begins with hello and welcome", async () => {
    const peer = connect();
    peer.hello(TOKEN);
    expect(await peer.next("welcome")).toEqual({
      type: "welcome",
      version: 1,
      sessionId: expect.any(String),
      secret: expect.any(String),
      resumed: false,
      limits: { sessionTtlMs: 80_000, pingMs: 60_000, frameBytes: 16_777_216, windowBytes: 524_288 },
    });
  });

  it("is closed if no hello comes in time, even if other bytes come", async () => {
    const peer = connect();
    host.clock.advance(HANDSHAKE_MS - 1);
    await nextTurn();
    expect(peer.closing).toBeUndefined();
    host.clock.advance(1);
    await nextTurn();
    expect(peer.closing).toMatchObject({ code: 4408 });
  });

  it("is closed if another message comes first, or hello comes twice", async () => {
    const hasty = connect();
    hasty.request(1, "process/list");
    expect(await hasty.closed).toMatchObject({ code: 4400 });
    expect(hasty.received).toEqual([]);
    const twice = await greeted();
    twice.hello(TOKEN);
    expect(await twice.closed).toMatchObject({ code: 4400 });
  });

  it("is refused for another version, a wrong token and an unknown session, with a code for each", async () => {
    const told = [];
    for (const hello of [
      { version: 2, token: TOKEN },
      { version: 1, token: "wrong" },
      { version: 1 },
      { version: 1, token: TOKEN, resume: { sessionId: "x", secret: "y", pending: [] } },
    ]) {
      const peer = connect();
      peer.say({ type: "hello", ...hello });
      told.push([(await peer.closed).code, peer.received.length]);
    }
    expect(told).toEqual([
      [4406, 0],
      [4401, 0],
      [4401, 0],
      [4404, 0],
    ]);
  });

  it("is closed after an invalid message", async () => {
    for (const bytes of [
      Uint8Array.of(),
      Uint8Array.of(0xc1),
      encode({ type: "no such" } as never),
      Uint8Array.of(0x01),
    ]) {
      const peer = await greeted();
      peer.sendBytes(bytes);
      expect(await peer.closed).toMatchObject({ code: 4400 });
    }
  });

  it("continues if only the arguments are wrong, and the reply names the argument", async () => {
    const peer = await greeted();
    peer.request(1, "no/such");
    peer.request(2, "process/start", { spec: { argv: [] }, incarnation: "i" });
    peer.request(3, "process/attach", { processId: "nobody" });
    peer.request(4, "process/write", { ...at, writeId: "", chunk: Uint8Array.of(1) });
    const replies = [];
    for (const id of [1, 2, 3, 4]) replies.push(await peer.reply(id));
    expect(replies).toMatchObject([
      { error: { code: "INVALID_PARAMS", data: { field: "method" } } },
      { error: { code: "INVALID_PARAMS", data: { field: "argv" } } },
      { error: { code: "PROCESS_UNKNOWN" } },
      { error: { code: "INVALID_PARAMS", data: { field: "writeId" } } },
    ]);
  });

  it("lets a viewer read, and refuses every call that changes a process", async () => {
    const owner = await greeted();
    owner.request(1, "process/start", { spec, incarnation: "i" });
    await owner.reply(1);
    for (const child of host.spawner.children) {
      child.inspector = { holders: async () => [], activity: async () => ({ state: "sleeping" }) };
    }
    const viewer = await greeted(VIEW_TOKEN);
    const methods: [string, object][] = [
      ["process/start", { spec: { argv: ["/x"] }, incarnation: "j" }],
      ["process/write", { ...at, chunk: Uint8Array.of(1) }],
      ["process/closeStdin", at],
      ["process/signal", { ...at, signal: "SIGTERM" }],
      ["process/resize", { ...at, size: { rows: 1, cols: 1 } }],
      ["process/terminate", at],
    ];
    const looks: [string, object][] = [
      ["process/list", {}],
      ["process/attach", { processId: "p" }],
      ["process/read", at],
      ["process/holders", at],
      ["process/activity", at],
      ["changes/watch", {}],
      ["process/subscribe", { ...at, afterSeq: 0, delivery: "gap" }],
      ["process/unsubscribe", at],
    ];
    const outcomes: string[] = [];
    for (const [index, [method, params]] of [...methods, ...looks].entries()) {
      viewer.request(index + 1, method, params);
      const { error } = (await viewer.reply(index + 1)) as { error?: { code: string } };
      outcomes.push(`${method} ${error?.code ?? "ok"}`);
    }
    expect(outcomes).toEqual([...methods.map(([name]) => `${name} FORBIDDEN`), ...looks.map(([name]) => `${name} ok`)]);
    expect(host.spawner.children.length).toBe(1);
    expect(host.spawner.children[0]?.calls).toEqual([]);
    expect(host.spawner.children[0]?.stdin?.received).toEqual([]);
  });

  it("does not let a viewer make a process wait", async () => {
    const owner = await greeted();
    owner.request(1, "process/start", { spec, incarnation: "i" });
    await owner.reply(1);
    const viewer = await greeted(VIEW_TOKEN);
    viewer.request(1, "process/subscribe", { ...at, afterSeq: 0, delivery: "lossless" });
    await viewer.reply(1);
    const child = host.spawner.children[0];
    for (let count = 0; count < 40; count += 1) child?.output("x".repeat(65_536));
    await nextTurn();
    expect(child?.calls).toEqual([]);
  });

  it("has a limited number of requests, to which a repeated one does not add", async () => {
    await server.close();
    await serveWith({ requests: 2 });
    host.spawner.wait();
    const peer = await greeted();
    for (const id of [1, 2, 3]) peer.request(id, "process/start", { spec: { argv: ["/x"] }, incarnation: `i${id}` });
    expect(await peer.reply(3)).toMatchObject({ error: { code: "LIMIT_EXCEEDED", data: { limit: "requests" } } });
    peer.request(1, "process/start", { spec: { argv: ["/x"] }, incarnation: "i1" });
    host.spawner.go();
    await nextTurn();
    await nextTurn();
    const replies = peer.of("reply").map(({ id, error }) => [id, (error as { code?: string } | undefined)?.code]);
    expect(replies.sort()).toEqual([
      [1, undefined],
      [2, undefined],
      [3, "LIMIT_EXCEEDED"],
    ]);
    // Acknowledged replies make room.
    peer.request(4, "process/start", { spec: { argv: ["/x"] }, incarnation: "i4" }, [1, 2]);
    expect(await peer.reply(4)).toMatchObject({ result: { process: { incarnation: "i4" } } });
  });

  it("sends the reply to a subscription before its events", async () => {
    const peer = await greeted();
    peer.request(1, "process/start", { spec, incarnation: "i" });
    await peer.reply(1);
    host.spawner.children[0]?.output("early");
    const seen = peer.received.length;
    peer.request(2, "process/subscribe", { ...at, afterSeq: 0, delivery: "gap" });
    await peer.next("event");
    expect(peer.received.slice(seen)).toMatchObject([
      { type: "reply", id: 2, result: { channel: 1 } },
      { type: "event", channel: 1, event: { seq: 1, chunk: Buffer.from("early") } },
    ]);
  });

  it("refuses a call for another incarnation of a process", async () => {
    const peer = await greeted();
    peer.request(1, "process/start", { spec, incarnation: "i" });
    await peer.reply(1);
    const other = { processId: "p", incarnation: "another" };
    peer.request(2, "process/write", { ...other, chunk: Uint8Array.of(1) });
    peer.request(3, "process/signal", { ...other, signal: "SIGKILL" });
    peer.request(4, "process/terminate", other);
    peer.request(5, "process/subscribe", { ...other, afterSeq: 0, delivery: "gap" });
    const replies = [];
    for (const id of [2, 3, 4, 5]) replies.push(await peer.reply(id));
    expect(replies).toMatchObject([
      { result: { status: "unknownProcess" } },
      { result: {} },
      { result: { running: false } },
      { error: { code: "PROCESS_UNKNOWN" } },
    ]);
    expect(host.spawner.children[0]?.calls).toEqual([]);
  });

  it("is pinged, then considered dead after two silent intervals, and its session stays", async () => {
    const peer = await greeted();
    peer.answersPings = false;
    for (let round = 0; round < 3; round += 1) {
      host.clock.advance(60_000);
      await nextTurn();
    }
    expect(peer.of("ping").length).toBe(2);
    expect(peer.closing).toMatchObject({ code: 1006 });
    const again = connect();
    const { sessionId, secret } = peer.of("welcome")[0] as unknown as { sessionId: string; secret: string };
    again.hello(TOKEN, { resume: { sessionId, secret, pending: [] } });
    expect(await again.next("welcome")).toMatchObject({ resumed: true });
  });
});
