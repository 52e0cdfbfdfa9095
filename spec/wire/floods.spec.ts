// Peers that send endless requests and do not read the replies, or request far too much: the server buffers little for them,
// sends the remaining replies when they read again, and keeps serving all other clients.
import { afterEach, describe, expect, it, jest } from "@jest/globals";
import { WebSocket } from "ws";
import { RequestRunner } from "../../lib/codex/server/request-runner.ts";
import { Process } from "../../lib/process/process.ts";
import { webSocketTransport } from "../../lib/transport/websocket/websocket-node.ts";
import { encode, SUBPROTOCOL } from "../../protocol/index.ts";
import { CodexHost } from "../support/codex-host.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { nextTurn } from "../support/next-turn.ts";
import { end, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { settled } from "../support/system-wait.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { WirePeer } from "../support/wire-peer.ts";

const VIEW_TOKEN = "a token for viewers";
const MIB = 1024 * 1024;
/** Viewers are read without a rest, so that turns of the event loop show when nothing more is done. */
const UNRESTING = { viewTurnMs: 10_000 };

describe("a server that is flooded", () => {
  let host: WireHost;
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
    jest.restoreAllMocks();
  });

  async function open(options: Parameters<typeof WireHost.open>[0] = {}): Promise<void> {
    host = await WireHost.open({ auth: { kind: "token", token: TOKEN, viewToken: VIEW_TOKEN }, ...options });
    undo.push(() => host.close());
  }

  /** A viewer that is welcome. */
  async function viewer(): Promise<{ peer: WirePeer; socket: WebSocket }> {
    const socket = new WebSocket(host.server.url as string, SUBPROTOCOL, { perMessageDeflate: false });
    undo.push(() => socket.terminate());
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    const peer = new WirePeer(webSocketTransport(socket, undefined, "binary"));
    peer.hello(VIEW_TOKEN);
    await peer.next("welcome");
    return { peer, socket };
  }

  /** The server still serves another client. */
  async function ownerGoesOn(): Promise<void> {
    const client = await host.connectDirectly();
    const process = await client.start({ argv: ["/bin/cat"], pipeStdin: true });
    await process.write("still here");
    expect(await printed(process, "still here")).toBe("still here");
    await process.closeStdin();
    await end(process);
  }

  /** Resolves when `count` has not grown for many turns of the event loop. */
  async function standsStill(count: () => number): Promise<void> {
    for (let last = -1, turns = 0; turns < 300; turns += 1) {
      await nextTurn();
      if (count() !== last) turns = 0;
      last = count();
    }
  }

  it("buffers next to nothing for a viewer that pings and never reads", async () => {
    await open();
    const printer = await host.supervisor.start({
      argv: sh("read -r go; head -c 60000000 /dev/zero"),
      pipeStdin: true,
    });
    const { peer, socket } = await viewer();
    const address = { processId: printer.id, incarnation: printer.incarnation };
    peer.request(1, "process/subscribe", { ...address, afterSeq: 0, delivery: "gap" });
    await peer.reply(1);
    socket.pause();
    // More than the kernel buffers: from here on everything sent to this viewer waits in the server.
    await printer.write("go\n");
    await end(printer);
    const memory = () => {
      const { heapUsed, arrayBuffers } = process.memoryUsage();
      return heapUsed + arrayBuffers;
    };
    const before = memory();
    const ping = encode({ type: "ping" });
    for (let count = 0; count < 250_000; count += 1) {
      socket.send(ping);
      if (count % 2_000 === 0) await untilTaken(socket);
    }
    await untilTaken(socket);
    expect(memory() - before).toBeLessThan(64 * MIB);
    await ownerGoesOn();
  });

  async function untilTaken(socket: WebSocket): Promise<void> {
    await settled(
      () => socket.bufferedAmount,
      (bytes) => bytes < 50_000,
    );
  }

  /** A viewer that requests 64 KiB many times and reads nothing. Resolves when the server has stopped handling its requests. */
  async function unreadViewer(requests: number) {
    const process = await host.supervisor.start({ argv: sh("head -c 65536 /dev/zero; read -r end"), pipeStdin: true });
    await printed(process, "\0".repeat(65_536));
    const read = jest.spyOn(Process.prototype, "read");
    const { peer, socket } = await viewer();
    socket.pause();
    const address = { processId: process.id, incarnation: process.incarnation };
    for (let id = 1; id <= requests; id += 1) peer.request(id, "process/read", address);
    await standsStill(() => read.mock.calls.length);
    return { peer, socket, answered: read.mock.calls.length };
  }

  it("handles few requests of a viewer that does not read the replies, and all of them once it reads", async () => {
    await open({ limits: UNRESTING });
    const { peer, socket, answered } = await unreadViewer(900);
    // The kernel buffers some MiB, and the server one.
    expect(answered).toBeGreaterThan(10);
    expect(answered).toBeLessThan(500);
    await ownerGoesOn();
    socket.resume();
    await peer.reply(900);
    expect(peer.of("reply").map(({ id }) => id)).toEqual(Array.from({ length: 900 }, (_, index) => index + 1));
  });

  it("drops a viewer that reads nothing for stallMs with 1013, and lets it reconnect", async () => {
    const clock = new FakeClock();
    await open({ clock, limits: { ...UNRESTING, stallMs: 8_000 } });
    const { peer, socket } = await unreadViewer(900);
    clock.advance(7_000);
    expect(peer.closing).toBe(undefined);
    clock.advance(3_000);
    socket.resume();
    expect(await peer.closed).toMatchObject({ code: 1013 });
    await viewer();
  });

  it("inspects a process once for many concurrent calls of viewers, and answers all", async () => {
    await open();
    const sleeper = await host.supervisor.start({ argv: ["/bin/sleep", "600"] });
    const activity = jest.spyOn(Process.prototype, "activity");
    const viewers = await Promise.all([viewer(), viewer(), viewer()]);
    const address = { processId: sleeper.id, incarnation: sleeper.incarnation };
    for (const { peer } of viewers) {
      for (let id = 1; id <= 1_000; id += 1) peer.request(id, "process/activity", address);
    }
    for (const { peer } of viewers) {
      for (let id = 1; id <= 1_000; id += 1) expect((await peer.reply(id)).error).toBe(undefined);
    }
    expect(activity.mock.calls.length).toBeLessThan(1_000);
  }, 30_000);

  it("refuses forbidden requests of a viewer without counting them against its limit", async () => {
    await open({ limits: { requests: 10 } });
    const { peer } = await viewer();
    for (let id = 1; id <= 100; id += 1) peer.request(id, "process/signal", { signal: "SIGKILL" });
    const replies = await Promise.all(Array.from({ length: 100 }, (_, index) => peer.reply(index + 1)));
    expect(new Set(replies.map(({ error }) => (error as { code: string }).code))).toEqual(new Set(["FORBIDDEN"]));
  });

  it("refuses a viewer more waiting reads than viewRequests, and accepts new ones once those are answered", async () => {
    await open({ limits: { viewRequests: 5 } });
    const process = await host.supervisor.start({ argv: ["/bin/cat"], pipeStdin: true });
    const { peer } = await viewer();
    const wait = { processId: process.id, incarnation: process.incarnation, waitMs: 600_000 };
    for (let id = 1; id <= 6; id += 1) peer.request(id, "process/read", wait);
    expect(await peer.reply(6)).toMatchObject({ error: { code: "LIMIT_EXCEEDED", data: { limit: "requests" } } });
    await process.write("news");
    for (let id = 1; id <= 5; id += 1) expect(await peer.reply(id)).toMatchObject({ result: { exited: false } });
    peer.request(7, "process/read", { ...wait, waitMs: 0 });
    expect(await peer.reply(7)).toMatchObject({ result: { exited: false } });
  });

  it("limits the memory of the waiting requests of all viewers together", async () => {
    await open({ limits: { viewConnectionsBytes: 20_000, requestOverheadBytes: 2_000 } });
    const process = await host.supervisor.start({ argv: ["/bin/cat"], pipeStdin: true });
    const { id: processId, incarnation } = process;
    const wait = { processId, incarnation, waitMs: 600_000, padding: new Uint8Array(10_000) };
    const [first, second] = [await viewer(), await viewer()];
    first.peer.request(1, "process/read", wait);
    first.peer.request(2, "process/read", wait);
    second.peer.request(1, "process/read", wait);
    expect(await second.peer.reply(1)).toMatchObject({ error: { code: "LIMIT_EXCEEDED" } });
    // A closed connection frees the memory of its requests.
    first.socket.terminate();
    await settled(
      async () => {
        const { peer } = await viewer();
        peer.request(1, "process/read", { ...wait, waitMs: 0 });
        return (await peer.reply(1)).error;
      },
      (error) => error === undefined,
    );
  });

  it("registers at most ten listeners on an AbortSignal for any number of reads, so that Node warns of no leak", async () => {
    await open();
    const process = await host.supervisor.start({ argv: ["/bin/cat"], pipeStdin: true });
    const counts = new Map<unknown, number>();
    const target = Object.getPrototypeOf(AbortSignal.prototype) as EventTarget;
    const original = target.addEventListener;
    const spy = jest.spyOn(target, "addEventListener").mockImplementation(function (
      this: EventTarget,
      ...args: Parameters<typeof original>
    ) {
      if (this instanceof AbortSignal) counts.set(this, (counts.get(this) ?? 0) + 1);
      return original.apply(this, args);
    });
    const { peer } = await viewer();
    const wait = { processId: process.id, incarnation: process.incarnation, waitMs: 600_000 };
    for (let id = 1; id <= 50; id += 1) peer.request(id, "process/read", wait);
    peer.request(51, "process/list");
    await peer.reply(51);
    expect(spy.mock.calls.length).toBeGreaterThanOrEqual(50);
    expect(Math.max(...counts.values())).toBeLessThanOrEqual(10);
  });
});

describe("a server of the Codex dialect that is flooded", () => {
  it("handles few requests of a client that does not read the replies, and all of them once it reads", async () => {
    const host = await CodexHost.open();
    const request = jest.spyOn(RequestRunner.prototype, "request");
    try {
      const peer = await host.connect();
      peer.socket.pause();
      const name = "no/such/method".padEnd(20_000, "/");
      const ids = Array.from({ length: 2_000 }, () => peer.ask(name));
      for (let last = -1, turns = 0; turns < 300; turns += 1) {
        await nextTurn();
        if (request.mock.calls.length !== last) turns = 0;
        last = request.mock.calls.length;
      }
      expect(request.mock.calls.length).toBeGreaterThan(20);
      expect(request.mock.calls.length).toBeLessThan(1_500);
      peer.socket.resume();
      await peer.reply(ids.at(-1) as number);
      expect(peer.received.flatMap((message) => ("id" in message && message.id > 1 ? [message.id] : []))).toEqual(ids);
    } finally {
      jest.restoreAllMocks();
      await host.close();
    }
  }, 30_000);
});
