// A flood on a slow link: what the server has sent ahead stays small, so that the answer to a Ctrl-C does not wait behind it.
import { once } from "node:events";
import { type AddressInfo, connect as connectSocket, createServer } from "node:net";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { connect } from "../../lib/connect.ts";
import { exitOf } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";

const BYTES_PER_TICK = 4_000;
const TICK_MS = 20;

let host: WireHost;
beforeAll(async () => {
  host = await WireHost.open();
});
afterAll(() => host.close());

/** A proxy that passes on what the server sends at 200 kB/s, and counts what it has read ahead of that. */
async function openSlowLink() {
  let waiting = Buffer.alloc(0);
  let maxWaiting = 0;
  const proxy = createServer((near) => {
    const far = connectSocket(Number(new URL(host.server.url as string).port), "127.0.0.1");
    for (const socket of [near, far]) socket.on("error", () => undefined);
    near.pipe(far);
    // Everything is read at once, so that what was sent ahead is counted here and not hidden in the kernel.
    far.on("data", (chunk: Buffer) => {
      waiting = Buffer.concat([waiting, chunk]);
      maxWaiting = Math.max(maxWaiting, waiting.length);
    });
    const timer = setInterval(() => {
      near.write(waiting.subarray(0, BYTES_PER_TICK));
      waiting = waiting.subarray(BYTES_PER_TICK);
    }, TICK_MS);
    near.on("close", () => {
      clearInterval(timer);
      far.destroy();
    });
  }).listen(0, "127.0.0.1");
  await once(proxy, "listening");
  const backend = await connect(`ws://127.0.0.1:${(proxy.address() as AddressInfo).port}`, { token: TOKEN });
  return {
    backend,
    ahead: () => maxWaiting,
    close: async () => {
      backend.link.close();
      proxy.close();
      await once(proxy, "close");
    },
  };
}

it.each(["lossless", "gap"] as const)("little is sent ahead of a reader (%s)", async (delivery) => {
  const link = await openSlowLink();
  const process = await link.backend.start({ argv: sh("exec yes 0123456789"), tty: true });
  let bytes = 0;
  for await (const event of process.iterate({ delivery })) {
    if (event.type === "output") bytes += event.chunk.length;
    if (bytes > 300_000) break;
  }
  const ahead = link.ahead();
  await process.write("\u0003");
  expect(await exitOf(process)).toMatchObject({ signal: "SIGINT" });
  // Two thirds of a second, with the frames in which a chunk of 64 KiB may come; without a measure it is more than 500,000.
  expect(ahead).toBeLessThan(200_000);
  await link.close();
});
