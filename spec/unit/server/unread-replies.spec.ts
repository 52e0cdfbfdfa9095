// A connection that does not read its replies: the server keeps no more memory for it than is counted.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { type ExecwireServer, serve } from "../../../lib/server/server.ts";
import { memoryPair } from "../../../lib/transport/memory-pair.ts";
import type { Transport } from "../../../lib/transport/transport.ts";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { WirePeer } from "../../support/wire-peer.ts";

describe("a connection that does not read its replies", () => {
  let host: FakeHost;
  let server: ExecwireServer;
  beforeEach(async () => {
    host = new FakeHost();
    server = await serve(host.supervisor, {
      auth: { kind: "none" },
      clock: host.clock,
      limits: { outboxReplyBytes: 60_000, connectionsBytes: 200_000 },
    });
  });
  afterEach(async () => {
    const closed = server.close();
    await nextTurn();
    await host.close();
    await closed;
  });

  /** A client whose frames leave the server when the spec says so. */
  async function connect() {
    const [near, far] = memoryPair();
    const unsent: (() => void)[] = [];
    const transport: Transport = {
      listen: (handlers) => near.listen(handlers),
      send: (frame, sent) => {
        near.send(frame);
        if (sent) unsent.push(sent);
      },
      close: (code, reason) => near.close(code, reason),
      terminate: () => near.terminate(),
    };
    server.accept(transport);
    const peer = new WirePeer(far);
    peer.hello();
    await peer.next("welcome");
    const take = () => {
      for (const sent of unsent.splice(0)) sent();
    };
    take();
    return { peer, take };
  }

  const chunks = (reply: object) =>
    (reply as { result: { chunks: { chunk: Uint8Array }[] } }).result.chunks.map(({ chunk }) => chunk.length);

  async function printer() {
    const { process, child } = await host.start({});
    return { child, at: { processId: process.id, incarnation: process.incarnation } };
  }

  it("gets a large result as it is when there is room for it, and not as it was when requested", async () => {
    const { child, at } = await printer();
    child.output("x".repeat(50_000));
    const { peer, take } = await connect();
    peer.request(1, "process/read", at);
    peer.request(2, "process/read", at);
    peer.request(3, "process/read", at);
    await peer.reply(2);
    child.output("y".repeat(20_000));
    take();
    expect(chunks(await peer.reply(1))).toEqual([50_000]);
    expect(chunks(await peer.reply(2))).toEqual([50_000]);
    expect(chunks(await peer.reply(3))).toEqual([50_000, 20_000]);
  });

  it("leaves room for other connections while a large result is made for it", async () => {
    const { child, at } = await printer();
    child.output("x".repeat(60_000));
    const { peer, take } = await connect();
    for (let id = 1; id <= 20; id += 1) peer.request(id, "process/read", at);
    await peer.reply(1);
    for (let id = 2; id <= 20; id += 1) {
      await nextTurn();
      // One reply fills the room, so each waits for the previous one.
      expect(peer.of("reply").length).toBe(id - 1);
      take();
      await peer.reply(id);
    }
  });

  it("may have a running request only within its share of the memory, or while half of all is free", async () => {
    const { at } = await printer();
    const wait = { ...at, waitMs: 600_000, padding: new Uint8Array(30_000) };
    const [greedy, other] = [await connect(), await connect()];
    for (let id = 1; id <= 5; id += 1) greedy.peer.request(id, "process/read", wait);
    expect(await greedy.peer.reply(5)).toMatchObject({
      error: { code: "LIMIT_EXCEEDED", data: { limit: "requests" } },
    });
    // Less than its share.
    other.peer.request(1, "process/read", { ...wait, waitMs: 0 });
    expect(await other.peer.reply(1)).toMatchObject({ result: { chunks: [] } });
  });
});
