// Limits that only exist on real sockets.
import { execFileSync } from "node:child_process";
import { type FileHandle, open } from "node:fs/promises";
import { expect, jest } from "@jest/globals";
import { openWebSocket } from "../../lib/transport/websocket/websocket-client.ts";
import { type Limits, SUBPROTOCOL } from "../../protocol/index.ts";
import { CodexHost } from "../support/codex-host.ts";
import { nextTurn } from "../support/next-turn.ts";
import { RawPeer } from "../support/raw-peer.ts";
import { WireHost } from "../support/wire-host.ts";
import { WirePeer } from "../support/wire-peer.ts";
import { later, type Role, type Row, TOKENS } from "./worlds.ts";

async function openHost(limits: Partial<Limits>): Promise<WireHost> {
  const auth = { kind: "token", token: TOKENS.control, viewToken: TOKENS.view } as const;
  const host = await WireHost.open({ auth, limits });
  later(() => host.close());
  return host;
}

async function greeted(host: WireHost, role: Role): Promise<WirePeer> {
  const bounds = { frameBytes: 1e6, handshakeMs: 5_000 };
  const peer = new WirePeer(await openWebSocket(host.server.url as string, SUBPROTOCOL, bounds)());
  later(() => peer.transport.terminate());
  peer.hello(TOKENS[role]);
  return peer;
}

/** In how many turns of the event loop twenty requests are handled that come at once and take two milliseconds each. */
async function turnsOfAFlood(limits: Partial<Limits>, role: Role): Promise<number> {
  const host = await openHost(limits);
  const peer = await greeted(host, role);
  await peer.next("welcome");
  let turn = 0;
  let isCounting = true;
  const count = () => {
    turn += 1;
    if (isCounting) setImmediate(count);
  };
  count();
  const turns = new Set<number>();
  const { supervisor } = host;
  const attach = supervisor.attach.bind(supervisor);
  jest.spyOn(supervisor, "attach").mockImplementation((processId) => {
    turns.add(turn);
    for (const end = performance.now() + 2; performance.now() < end; );
    return attach(processId);
  });
  for (let id = 1; id <= 20; id += 1) peer.request(id, "process/attach", { processId: `p${id}` });
  for (let id = 1; id <= 20; id += 1) await peer.reply(id);
  isCounting = false;
  return turns.size;
}

export const socketRows = {
  turnMs: [
    "a turn of the event loop handles no frame after it",
    async () => expect(await turnsOfAFlood({ turnMs: 1 }, "control")).toBe(20),
  ],
  viewTurnMs: ["the same for a viewer", async () => expect(await turnsOfAFlood({ viewTurnMs: 1 }, "view")).toBe(20)],
  waitingConnections: [
    "one more without a hello closes the one that waits longest",
    async () => {
      const { server } = await openHost({ waitingConnections: 1 });
      const first = await RawPeer.open(server.url as string);
      later(() => first.socket.destroy());
      const second = await RawPeer.open(server.url as string);
      later(() => second.socket.destroy());
      expect(await first.over).toBeUndefined();
      expect(second.socket.destroyed).toBe(false);
    },
  ],
  reservedDescriptors: [
    "viewers are not let in while fewer descriptors are free",
    async () => {
      const max = 1_600;
      const files: FileHandle[] = [];
      const restore = limitDescriptors(max);
      later(async () => {
        for (const file of files) await file.close();
        restore();
      });
      const host = await openHost({ reservedDescriptors: 200 });
      const patient = await openHost({ reservedDescriptors: 20 });
      while ((files.at(-1)?.fd ?? 0) < max - 150) files.push(await open("/dev/null"));
      expect((await (await greeted(host, "view")).closed).code).toBe(1013);
      await (await greeted(patient, "view")).next("welcome");
    },
  ],
  unreadBytes: [
    "a Codex client is answered no more at once",
    async () => {
      const host = await CodexHost.open({ limits: { unreadBytes: 4 } });
      later(() => host.close());
      const peer = await host.connect();
      await peer.start("p", "printf aaaa; read -r go; printf bbbb; read -r end", { pipeStdin: true });
      await peer.until(() => (peer.textOf("p") === "aaaa" ? true : undefined));
      await peer.call("process/write", { processId: "p", chunk: Buffer.from("\n").toString("base64"), writeId: "w" });
      await peer.until(() => (peer.textOf("p") === "aaaabbbb" ? true : undefined));
      expect((await peer.read("p", 0)).chunks.length).toBe(1);
      await nextTurn();
    },
  ],
} satisfies Record<string, Row>;

/** Lowers the number of files that this program may open; the result raises it again. */
function limitDescriptors(max: number): () => void {
  const prlimit = (...args: string[]) =>
    execFileSync("prlimit", ["--pid", String(process.pid), ...args], { encoding: "utf8" });
  const before = prlimit("--nofile", "--output", "SOFT", "--noheadings").trim();
  prlimit(`--nofile=${max}:`);
  return () => prlimit(`--nofile=${before}:`);
}
