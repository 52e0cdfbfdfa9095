// Peers without a token, and viewers: nothing they send occupies much memory, locks other clients out, or ends a process.
import { afterEach, describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import { connectCodex } from "../../lib/codex/client/connect-codex.ts";
import { codexDialect } from "../../lib/codex/server/codex-dialect.ts";
import { serve } from "../../lib/server/server.ts";
import { openWebSocket } from "../../lib/transport/websocket/websocket-client.ts";
import { encode, type Limits, limits, PROTOCOL_VERSION, SUBPROTOCOL } from "../../protocol/index.ts";

import { bufferBytes } from "../support/memory.ts";
import { nextTurn } from "../support/next-turn.ts";
import { end, printed } from "../support/outcome.ts";

import { frameHead, OPCODE, RawPeer } from "../support/raw-peer.ts";
import { settled } from "../support/system-wait.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { becomes } from "../support/wire-link.ts";
import { WirePeer } from "../support/wire-peer.ts";

const VIEW_TOKEN = "a token for viewers";
const BEARER = { Authorization: `Bearer ${TOKEN}` };
const HELLO = encode({ type: "hello", version: PROTOCOL_VERSION, token: TOKEN });
const VIEW_HELLO = encode({ type: "hello", version: PROTOCOL_VERSION, token: VIEW_TOKEN });

let host: WireHost;
let url: string;
const raw: RawPeer[] = [];
afterEach(async () => {
  for (const { socket } of raw.splice(0)) socket.destroy();
  await host.close();
});

async function open(bounds: Partial<Limits> = {}, more: object = {}): Promise<void> {
  const auth = { kind: "token", token: TOKEN, viewToken: VIEW_TOKEN } as const;
  host = await WireHost.open({ auth, limits: bounds, ...more });
  url = host.server.url as string;
}

async function upgrade(headers = {}, native = true): Promise<RawPeer> {
  const peer = await RawPeer.upgrade(url, headers, native);
  raw.push(peer);
  return peer;
}

async function idle(): Promise<RawPeer> {
  const peer = await RawPeer.open(url);
  raw.push(peer);
  return peer;
}

async function viewer(): Promise<WirePeer> {
  const peer = new WirePeer(await openWebSocket(url, SUBPROTOCOL, { frameBytes: 1e6, handshakeMs: 5_000 })());
  peer.hello(VIEW_TOKEN);
  return peer;
}

/** The owner can connect and run a process. */
async function ownerWorks(): Promise<void> {
  const owner = await host.connectDirectly();
  const process = await owner.start({ argv: ["echo", "hi"] });
  expect(await printed(process, "hi")).toContain("hi");
  await end(process);
  await owner.close();
}

describe("a peer before its hello", () => {
  it("is refused a large frame by its announced length, before any of it is buffered", async () => {
    await open();
    const peer = await upgrade();
    peer.socket.write(frameHead(limits.helloBytes + 1));
    expect(await peer.over).toBe(1009);
  });

  it("is refused many fragments of a message, because each costs more memory than its byte", async () => {
    await open();
    const peer = await upgrade();
    peer.frame(Buffer.from("x"), { fin: false });
    peer.socket.write(
      Buffer.concat(Array.from({ length: 1_000 }, () => Buffer.from([OPCODE.more, 0x81, 0, 0, 0, 0, 1]))),
    );
    expect(await peer.over).toBe(1009);
  });

  it("is refused with 1009 when its hello drips in, byte by byte, and so is a viewer's request", async () => {
    await open();
    const [stranger, looking] = [await upgrade(), await upgrade()];
    looking.frame(VIEW_HELLO);
    await looking.answered();
    for (const peer of [stranger, looking]) {
      let isOver = false;
      const over = peer.over.finally(() => {
        isOver = true;
      });
      peer.socket.setNoDelay(true);
      peer.socket.write(frameHead(60_000));
      for (let count = 0; count < 20_000 && !isOver; count += 1) {
        await new Promise((resolve) => peer.socket.write("x", resolve));
        await nextTurn();
      }
      expect(await over).toBe(1009);
    }
    await ownerWorks();
  });

  it("is refused more bytes of control frames than a hello may have", async () => {
    await open();
    const peer = await upgrade();
    const pongs = Buffer.concat(Array.from({ length: 20_000 }, () => frameHead(0, { opcode: OPCODE.pong })));
    peer.socket.write(pongs);
    expect(await peer.over).toBe(1009);
  });

  it("is not read after its refusal, so that nothing more is buffered for it", async () => {
    await open();
    const piece = Buffer.alloc(1_000_000);
    const before = bufferBytes();
    const peers = await Promise.all(Array.from({ length: 8 }, () => upgrade()));
    const sent = peers.map(async ({ socket }) => {
      socket.write(Buffer.concat([frameHead(1), Buffer.from([0xc1]), frameHead(16_000_000)]));
      for (let count = 0; count < 10; count += 1) await new Promise((resolve) => socket.write(piece, resolve));
    });
    await Promise.all(sent);
    // The connections are still open, because the peers have not closed them.
    expect(bufferBytes() - before).toBeLessThan(10_000_000);
    for (const { over } of peers) expect(await over).toBe(4400);
    await ownerWorks();
  });

  it("may send a hello with many pending requests, and with the token full frames after it", async () => {
    await open();
    const peer = await upgrade();
    peer.frame(HELLO);
    await peer.answered();
    // Nonsense that is longer than a hello: it is read as a whole before it is refused.
    peer.frame(Buffer.alloc(limits.frameBytes, 0xc1));
    expect(await peer.over).toBe(4400);
    const tooLong = await upgrade();
    tooLong.frame(HELLO);
    await tooLong.answered();
    tooLong.socket.write(frameHead(limits.frameBytes + 1));
    expect(await tooLong.over).toBe(1009);
    const long = await upgrade();
    const pending = Array.from({ length: limits.requests }, (_, index) => 2 ** 40 + index);
    const resume = { sessionId: "x", secret: "x", pending };
    long.frame(encode({ type: "hello", version: PROTOCOL_VERSION, token: TOKEN, resume }));
    expect(await long.over).toBe(4404);
  });

  it("gives way to later ones when too many wait, and never locks the owner out", async () => {
    await open({ waitingConnections: 3 });
    const silent = await Promise.all(Array.from({ length: 3 }, () => idle()));
    const shaken = await upgrade();
    expect(await silent[0]?.over).toBeUndefined();
    await ownerWorks();
    expect(shaken.socket.destroyed).toBe(false);
    for (let count = 0; count < 3; count += 1) await idle();
    expect(await shaken.over).toBeUndefined();
    await ownerWorks();
  });

  it("does not count as waiting when its upgrade request has the token", async () => {
    await open({ waitingConnections: 1 });
    const owner = await upgrade(BEARER);
    const first = await idle();
    await idle();
    expect(await first.over).toBeUndefined();
    owner.frame(encode({ type: "hello", version: PROTOCOL_VERSION }));
    await owner.answered();
    expect(owner.socket.destroyed).toBe(false);
  });

  it("does not count against the connections of clients with a token", async () => {
    await open({ connections: 1 });
    for (let count = 0; count < 3; count += 1) await upgrade();
    await ownerWorks();
  });
});

describe("a client of the Codex dialect", () => {
  const large = JSON.stringify({ method: "x".repeat(100_000) });

  it("may send no more than helloBytes before initialize, where the server has no token", async () => {
    await open({}, { auth: { kind: "none" }, dialect: await codexDialect() });
    const early = await upgrade({}, false);
    early.socket.write(frameHead(large.length, { opcode: OPCODE.text }));
    expect(await early.over).toBe(1009);
    const peer = await upgrade({}, false);
    peer.frame(Buffer.from('{"id":1,"method":"initialize","params":{"clientName":"x"}}'), { opcode: OPCODE.text });
    await peer.answered();
    peer.frame(Buffer.from(large), { opcode: OPCODE.text });
    const client = await connectCodex(url);
    expect(peer.socket.destroyed).toBe(false);
    await client.close();
  });

  it("is authenticated by the token of its upgrade request", async () => {
    await open({ waitingConnections: 1 }, { dialect: await codexDialect() });
    const peer = await upgrade(BEARER, false);
    peer.frame(Buffer.from(large), { opcode: OPCODE.text });
    await idle();
    await idle();
    peer.frame(Buffer.from('{"id":1,"method":"initialize","params":{"clientName":"x"}}'), { opcode: OPCODE.text });
    await peer.answered();
    expect(peer.socket.destroyed).toBe(false);
  });
});

describe("a viewer", () => {
  it("may send small frames only", async () => {
    await open();
    const peer = await upgrade();
    peer.frame(VIEW_HELLO);
    await peer.answered();
    peer.socket.write(frameHead(limits.viewFrameBytes + 1));
    expect(await peer.over).toBe(1009);
  });

  it("learns its frameBytes and sessionTtlMs from the welcome", async () => {
    await open();
    expect((await (await viewer()).next("welcome")).limits).toMatchObject({
      frameBytes: limits.viewFrameBytes,
      sessionTtlMs: limits.viewSessionTtlMs,
    });
  });

  it("does not use up the connections or sessions of the owner, in any number", async () => {
    await open({ viewConnections: 2, viewSessions: 3, connections: 2, sessions: 2 });
    const owner = await host.connectDirectly();
    for (let count = 0; count < 8; count += 1) await (await viewer()).next("welcome");
    await ownerWorks();
    expect(owner.link.state).toBe("connected");
  });

  it("gives way to a new one while it is idle; active ones stay, and then the new one is refused with 1013", async () => {
    await open({ viewConnections: 2 });
    const watching = await viewer();
    await watching.next("welcome");
    watching.request(1, "changes/watch");
    await watching.reply(1);
    const silent = await viewer();
    await silent.next("welcome");
    const next = await viewer();
    await next.next("welcome");
    expect((await silent.closed).code).toBe(1006);
    next.request(1, "changes/watch");
    await next.reply(1);
    const tooMany = await viewer();
    expect(await tooMany.closed).toMatchObject({ code: 1013 });
    expect([watching.closing, next.closing]).toEqual([undefined, undefined]);
  });

  it("goes on with a new session when its own has ended during a cut, and still gets changes", async () => {
    await open({ viewSessions: 1 });
    const client = await host.connect({ token: VIEW_TOKEN });
    const changes = firstValueFrom(client.changes$);
    host.proxy.refuse();
    await becomes(client, "recovering");
    // Occupies the only session, once the server has noticed the cut.
    const other = await settled(
      async () => {
        const peer = await viewer();
        return Promise.race([peer.next("welcome").catch(() => undefined), peer.closed.then(() => undefined)]).then(
          (welcome) => welcome && peer,
        );
      },
      (peer) => peer !== undefined,
    );
    other?.transport.terminate();
    host.proxy.admit();
    await becomes(client, "connected");
    const owner = await host.connectDirectly();
    const process = await owner.start({ argv: ["true"], processId: "p" });
    expect((await changes).processId).toBe("p");
    await end(process);
  });
});

describe("a controlling client that owns nothing", () => {
  it("reconnects to a restarted server as if nothing had happened", async () => {
    await open();
    const client = await host.connect();
    const port = Number(new URL(url).port);
    host.proxy.refuse();
    await becomes(client, "recovering");
    await host.server.close();
    // Called without a connection: a read-only request, which any server can answer.
    const listed = client.list();
    const auth = { kind: "token", token: TOKEN } as const;
    const again = await serve(host.supervisor, { auth, listen: { host: "127.0.0.1", port } });
    host.proxy.admit();
    await becomes(client, "connected");
    expect(await listed).toEqual([]);
    await end(await client.start({ argv: ["true"] }));
    await client.close();
    await again.close();
  });
});
