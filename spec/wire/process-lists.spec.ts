// Lists and changes of many processes with large infos: they reach every client and never exceed a frame.
import { afterEach, describe, expect, it } from "@jest/globals";
import { openWebSocket } from "../../lib/transport/websocket/websocket-client.ts";
import { encode, MIN_FRAME_BYTES, SUBPROTOCOL } from "../../protocol/index.ts";
import { end } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { WirePeer } from "../support/wire-peer.ts";

let host: WireHost;
afterEach(() => host.close());

const COUNT = 40;

/** A client of version 1.0, which refuses every frame that is larger than the server announced. */
async function oldClient(token = TOKEN): Promise<WirePeer> {
  const bounds = { frameBytes: MIN_FRAME_BYTES, handshakeMs: 5_000 };
  const peer = new WirePeer(await openWebSocket(host.server.url as string, SUBPROTOCOL, bounds)());
  peer.hello(token);
  await peer.next("welcome");
  return peer;
}

describe("finished processes of long scripts and large labels", () => {
  it("are all listed, in frames that every client accepts", async () => {
    host = await WireHost.open({ limits: { frameBytes: MIN_FRAME_BYTES } });
    const client = await host.connectDirectly();
    const argv = sh(`: ${"x".repeat(4_600)}`);
    const labels = { note: "v".repeat(500) };
    for (let count = 0; count < COUNT; count += 1) await end(await client.start({ argv, labels }));
    const list = await client.list();
    expect(list.length).toBe(COUNT);
    // Together they exceed a frame by far.
    expect(encode({ type: "reply", id: 1, result: { processes: list } }).length).toBeGreaterThan(MIN_FRAME_BYTES);
    expect(list.every(({ argvOmitted }) => (argvOmitted?.bytes ?? 0) > 2_000)).toBe(true);

    const old = await oldClient();
    old.request(1, "process/list");
    const { result } = (await old.reply(1)) as unknown as { result: { processes: { incarnation: string }[] } };
    expect(result.processes.map(({ incarnation }) => incarnation)).toEqual(list.map(({ incarnation }) => incarnation));
    expect(encode({ type: "reply", id: 1, result }).length).toBeLessThanOrEqual(MIN_FRAME_BYTES);
  });

  it("are listed up to one page to a viewer that asks without pages, the latest ones", async () => {
    const [viewToken, listPageBytes] = ["look at me", 8 * 1024];
    host = await WireHost.open({ auth: { kind: "token", token: TOKEN, viewToken }, limits: { listPageBytes } });
    const client = await host.connectDirectly();
    for (let count = 0; count < COUNT; count += 1) {
      await end(await client.start({ argv: ["true"], labels: { note: "v".repeat(500) } }));
    }
    const list = (await client.list()).map(({ incarnation }) => incarnation);
    const old = await oldClient(viewToken);
    old.request(1, "process/list");
    const { result } = (await old.reply(1)) as unknown as { result: { processes: { incarnation: string }[] } };
    const shown = result.processes.map(({ incarnation }) => incarnation);
    expect(shown.length).toBeGreaterThan(1);
    expect(shown).toEqual(list.slice(-shown.length));
    expect(encode({ type: "reply", id: 1, result }).length).toBeLessThanOrEqual(listPageBytes);
  });

  it("are reported to a client that watches changes, with the longest id, labels and directory", async () => {
    host = await WireHost.open({ limits: { frameBytes: MIN_FRAME_BYTES } });
    const watcher = await oldClient();
    watcher.request(1, "changes/watch");
    await watcher.reply(1);
    const client = await host.connectDirectly();
    const processId = "€".repeat(8_192);
    const process = await client.start({
      argv: sh(`: ${"€".repeat(4_000)}`),
      processId,
      labels: { l: "v".repeat(8_191) },
    });
    await end(process);
    for (let state = ""; state !== "closed"; ) {
      const { process: reported } = (await watcher.next("change")) as unknown as { process: typeof process.info };
      expect(reported.labels).toEqual(process.info.labels);
      state = reported.state;
    }
    expect(watcher.closing).toBeUndefined();
  });
});

describe("a process whose info exceeds a frame", () => {
  it("is listed with the omitted labels and arguments counted", async () => {
    host = await WireHost.open({ limits: { frameBytes: MIN_FRAME_BYTES, labelBytes: 1e6 } });
    const watcher = await oldClient();
    watcher.request(1, "changes/watch");
    await watcher.reply(1);
    const labels = { large: "v".repeat(60_000), larger: "w".repeat(60_000) };
    const { id } = await host.supervisor.start({ argv: ["cat"], pipeStdin: true, labels });
    const shown = { labels: {}, labelsOmitted: 2, argv: ["cat"] };
    const client = await host.connectDirectly();
    expect((await client.attach(id)).info).toMatchObject(shown);
    expect(await client.list()).toEqual([expect.objectContaining(shown)]);
    expect((await watcher.next("change")).process).toMatchObject(shown);
  });
});

describe("a refusal that quotes the request", () => {
  it("is shortened to fit into a frame", async () => {
    host = await WireHost.open({ limits: { frameBytes: MIN_FRAME_BYTES } });
    const peer = await oldClient();
    const field = "f".repeat(60_000);
    const spec = { argv: ["true"], [field]: 1 };
    peer.request(1, "process/start", { spec, incarnation: "00000000-0000-4000-8000-000000000000" });
    const { error } = (await peer.reply(1)) as unknown as { error: { code: string; data: { field: string } } };
    expect(error.code).toBe("INVALID_PARAMS");
    expect(field.startsWith(error.data.field.slice(0, 1_000))).toBe(true);
    expect(encode({ type: "reply", id: 1, error } as never).length).toBeLessThan(MIN_FRAME_BYTES);
  });
});

describe("a server with impossible limits", () => {
  it.each([
    ["frames that are too small", { frameBytes: MIN_FRAME_BYTES - 1 }],
    ["a ping that is too frequent", { pingMs: 1 }],
    ["a window that is too large", { windowBytes: 2 ** 30 }],
  ])("refuses %s, since clients would leave it", async (_what, limits) => {
    host = await WireHost.open();
    const field = `limits.${Object.keys(limits)[0]}`;
    expect(await refusal(WireHost.open({ limits }))).toEqual({ code: "INVALID_PARAMS", data: { field } });
  });
});
