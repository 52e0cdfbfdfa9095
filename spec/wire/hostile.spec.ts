// Clients that send a server arbitrary bytes: it closes their connections, keeps nothing of them, and keeps serving all other
// clients.
import { once } from "node:events";
import { connect as connectTcp } from "node:net";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { openWebSocket } from "../../lib/transport/websocket/websocket-client.ts";
import { encode, SUBPROTOCOL } from "../../protocol/index.ts";
import { runs } from "../support/fuzz.ts";
import { heapBytes } from "../support/memory.ts";
import { end, printed } from "../support/outcome.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { WirePeer } from "../support/wire-peer.ts";

describe("a server that receives nonsense", () => {
  let host: WireHost;
  let client: RemoteBackend;
  beforeAll(async () => {
    host = await WireHost.open({ limits: { handshakeMs: 2_000, frameBytes: 1_000_000 } });
    client = await host.connectDirectly();
  });
  afterAll(() => host.close());

  async function peer(): Promise<WirePeer> {
    return new WirePeer(
      await openWebSocket(host.server.url as string, SUBPROTOCOL, { frameBytes: 1e9, handshakeMs: 5_000 })(),
    );
  }

  /** The server still serves another client. */
  async function othersGoOn(): Promise<void> {
    const process = await client.start({ argv: ["/bin/cat"], pipeStdin: true });
    await process.write("still here");
    expect(await printed(process, "still here")).toBe("still here");
    await process.closeStdin();
    await end(process);
    expect(client.link.state).toBe("connected");
  }

  it("closes a connection after an arbitrary frame, before hello and after", async () => {
    const codes = new Set<number>();
    await fc.assert(
      fc.asyncProperty(fc.uint8Array({ maxLength: 100 }), fc.boolean(), async (frame, greeted) => {
        const attacker = await peer();
        if (greeted) {
          attacker.hello(TOKEN);
          await attacker.next("welcome");
        }
        attacker.sendBytes(frame);
        codes.add((await attacker.closed).code);
      }),
      runs(100),
    );
    expect([...codes]).toEqual([4400]);
    await othersGoOn();
  });

  it("answers requests with arbitrary arguments, and starts no process for them", async () => {
    const before = await host.supervisor.list();
    const attacker = await peer();
    attacker.hello(TOKEN);
    await attacker.next("welcome");
    const names = ["processId", "incarnation", "afterSeq", "delivery", "chunk", "signal", "size", "spec", "waitMs"];
    const value = fc.oneof(
      fc.constantFrom(null, true, "", "p", "gap", -1, 0, 1.5, 2 ** 53 - 1),
      fc.string(),
      fc.uint8Array(),
      fc.dictionary(fc.string(), fc.integer(), { maxKeys: 3 }),
      fc.array(fc.string(), { maxLength: 3 }),
    );
    const methods = ["start", "attach", "subscribe", "unsubscribe", "read", "write", "signal", "resize", "terminate"];
    const params = fc.dictionary(fc.constantFrom(...names), value);
    let id = 0;
    await fc.assert(
      fc.asyncProperty(fc.constantFrom(...methods), params, async (method, arguments_) => {
        // Only a valid spec could start a program.
        const { spec: _spec, ...rest } = arguments_;
        id += 1;
        attacker.request(
          id,
          `process/${method}`,
          method === "start" ? { ...rest, spec: { argv: [] } } : rest,
          [id - 1].filter(Boolean),
        );
        expect(await attacker.reply(id)).toMatchObject({ id });
      }),
      runs(300),
    );
    attacker.transport.terminate();
    expect((await host.supervisor.list()).length).toBe(before.length);
    await othersGoOn();
  });

  it("refuses a frame larger than its limit with 1009", async () => {
    const attacker = await peer();
    attacker.sendBytes(new Uint8Array(1_000_001));
    expect(await attacker.closed).toMatchObject({ code: 1009 });
    await othersGoOn();
  });

  it("survives bytes that are neither HTTP nor WebSocket", async () => {
    const { port } = new URL(host.server.url as string);
    for (const bytes of [
      "\0\0\0\0",
      "SSH-2.0-x\r\n",
      "GET / HTTP/9.9\r\n\r\n",
      "\x16\x03\x01\x02\x00",
      "x".repeat(100_000),
    ]) {
      const socket = connectTcp(Number(port), "127.0.0.1");
      socket.on("error", () => undefined).resume();
      socket.end(bytes);
      await once(socket, "close");
    }
    await othersGoOn();
  });

  it("answers at most one of the plain HTTP requests on a connection", async () => {
    const { port } = new URL(host.server.url as string);
    const socket = connectTcp(Number(port), "127.0.0.1");
    let answers = "";
    socket
      .on("error", () => undefined)
      .on("data", (piece) => {
        answers += piece;
      });
    const closed = new Promise((resolve) => socket.once("close", resolve));
    socket.write("GET /readyz HTTP/1.1\r\nHost: x\r\n\r\n".repeat(1000));
    await closed;
    // Closing with unread bytes resets the connection, which may lose the reply as well.
    expect(answers.split("HTTP/1.1 ").length - 1).toBeLessThanOrEqual(1);
    await othersGoOn();
  });

  it("keeps nothing of clients that have gone", async () => {
    const VISITORS = 300;
    /** Growth of the heap over a round of visitors. */
    const growth = async () => {
      const before = heapBytes();
      for (let count = 0; count < VISITORS; count += 1) {
        const visitor = await peer();
        visitor.sendBytes(encode({ type: "ack", channel: 1, seq: 1 }));
        await visitor.closed;
      }
      return heapBytes() - before;
    };
    await growth();
    // A leak grows in every round; other allocations of the engine do not.
    const growths = [await growth(), await growth(), await growth()];
    // A leaked connection would be several KiB.
    expect(Math.min(...growths)).toBeLessThan(VISITORS * 1024);
  });
});
