// Many viewers of one process: all get the same bytes, a slow one gets the exact range that it lost, and none slows the process
// down.
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { firstValueFrom, map, toArray } from "rxjs";
import { WebSocket } from "ws";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { webSocketTransport } from "../../lib/transport/websocket/websocket-node.ts";
import {
  decode,
  encode,
  type GapNotice,
  PROTOCOL_VERSION,
  type ServerMessage,
  SUBPROTOCOL,
} from "../../protocol/index.ts";
import { sha256 } from "../support/digest.ts";
import { exitOf } from "../support/outcome.ts";
import { fixture, sh } from "../support/programs.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { WirePeer } from "../support/wire-peer.ts";

/** `EXECWIRE_VIEWERS=1000 npm test -- spec/wire/viewers` is the large variant. */
const VIEWERS = Number(process.env.EXECWIRE_VIEWERS ?? 200);

describe("viewers of one process", () => {
  let host: WireHost;
  let owner: RemoteBackend;
  beforeAll(async () => {
    host = await WireHost.open();
    owner = await host.connectDirectly();
  });
  afterAll(() => host.close());

  async function openSocket(): Promise<WebSocket> {
    const socket = new WebSocket(host.server.url as string, SUBPROTOCOL, { perMessageDeflate: false });
    await new Promise((resolve, reject) => socket.once("open", resolve).once("error", reject));
    return socket;
  }

  it(
    `all get identical bytes, ${VIEWERS} of them`,
    async () => {
      const process = await owner.start({
        argv: sh('read go; exec "$@"', ...fixture("print-random.mjs", "300000")),
        pipeStdin: true,
      });
      const { id: processId, incarnation } = process;
      const viewers = await Promise.all(Array.from({ length: VIEWERS }, () => watch(processId, incarnation)));
      await process.write("go\n");
      const mine = await firstValueFrom(process.events().pipe(toArray()));
      const digests = await Promise.all(viewers.map(({ digest }) => digest));
      for (const { socket } of viewers) socket.terminate();
      const bytes = (stream: string) =>
        mine.flatMap((event) => (event.type === "output" && event.stream === stream ? [event.chunk] : []));
      const expected = sha256(...bytes("stdout"));
      expect(Buffer.concat(bytes("stderr")).toString()).toBe(expected);
      expect(new Set(digests)).toEqual(new Set([expected]));
    },
    20_000 + VIEWERS * 50,
  );

  /** A minimal viewer: a socket, a subscription, and a digest of stdout. */
  async function watch(processId: string, incarnation: string) {
    const socket = await openSocket();
    const chunks: Uint8Array[] = [];
    let subscribed: () => void;
    const ready = new Promise<void>((resolve) => {
      subscribed = resolve;
    });
    const digest = new Promise<string>((resolve) => {
      socket.on("message", (frame: Buffer) => {
        const message = decode(frame) as ServerMessage;
        if (message.type === "reply") subscribed();
        if (message.type === "ping") socket.send(encode({ type: "pong" }));
        if (message.type !== "event") return;
        const { event } = message;
        if (event.type === "output" && event.stream === "stdout") chunks.push(Uint8Array.from(event.chunk));
        if (event.type === "closed") resolve(sha256(...chunks));
      });
    });
    socket.send(encode({ type: "hello", version: PROTOCOL_VERSION, token: TOKEN }));
    const params = { processId, incarnation, afterSeq: 0, delivery: "gap" };
    socket.send(encode({ type: "request", id: 1, acked: [], method: "process/subscribe", params }));
    await ready;
    return { socket, digest };
  }

  it("never slow the process down: one that does not read gets a single exact gap, the others get all output", async () => {
    const bytes = 40_000_000;
    const process = await owner.start({
      argv: sh(`read go; /usr/bin/head -c ${bytes} /dev/zero; read end`),
      pipeStdin: true,
    });
    const { id: processId, incarnation } = process;
    const socket = await openSocket();
    const slow = new WirePeer(webSocketTransport(socket, undefined, "binary"));
    slow.hello(TOKEN);
    slow.request(1, "process/subscribe", { processId, incarnation, afterSeq: 0, delivery: "gap" });
    await slow.reply(1);
    socket.pause();
    const other = await (await host.connectDirectly()).attach(processId);
    const whole = firstValueFrom(
      other.events().pipe(
        map((event) => sizeOf(event)),
        toArray(),
      ),
    );
    await process.write("go\n");
    // The process prints everything and a fast viewer gets everything, while the slow one reads nothing at all.
    await sumReaches(process.output$, bytes);
    await process.write("end\n");
    await exitOf(process);
    expect((await whole).reduce((sum, size) => sum + size, 0)).toBe(bytes);

    socket.resume();
    while (!slow.received.some(({ event }) => (event as { type?: string } | undefined)?.type === "closed"))
      await slow.next("event");
    const gaps = slow.of("gap").map(({ gap }) => gap as GapNotice);
    expect(gaps.length).toBe(1);
    const [{ firstSeq, lastSeq, bytes: lost }] = gaps as [GapNotice];
    const seqs = slow.received.flatMap(({ type, event }) =>
      type === "gap"
        ? Array.from({ length: lastSeq - firstSeq + 1 }, (_, index) => firstSeq + index)
        : type === "event"
          ? [(event as { seq: number }).seq]
          : [],
    );
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    const got = slow.of("event").reduce((sum, { event }) => sum + sizeOf(event as never), 0);
    expect(got + (lost as number)).toBe(bytes);
    socket.terminate();
  });
});

function sizeOf(event: { readonly type: string; readonly chunk?: Uint8Array }): number {
  return event.type === "output" ? (event.chunk?.length ?? 0) : 0;
}

/** Resolves when so many bytes have arrived; rejects at a gap. */
function sumReaches(output$: import("../../lib/process/process.ts").Process["output$"], bytes: number): Promise<void> {
  return new Promise((resolve, reject) => {
    let sum = 0;
    const subscription = output$.subscribe({
      next: (event) => {
        if (event.type === "gap") reject(new Error(`lost ${event.firstSeq}..${event.lastSeq}`));
        else sum += event.chunk.length;
        if (sum >= bytes) resolve();
      },
      error: reject,
    });
    void subscription;
  });
}
