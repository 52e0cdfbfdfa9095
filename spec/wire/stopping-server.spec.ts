// A server that stops: clients that count on all output get the end of it before their connection is closed.
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import { sha256 } from "../support/digest.ts";
import { sh } from "../support/programs.ts";
import { WireHost } from "../support/wire-host.ts";

const BYTES = 3_000_000;

let host: WireHost;
beforeAll(async () => {
  host = await WireHost.open();
});
afterAll(() => host.close());

it("delivers what a lossless reader has not received, before it closes", async () => {
  const client = await host.connectDirectly();
  // The last megabytes come when the process is asked to end.
  const script = `trap 'head -c ${BYTES} /dev/zero; exit 0' TERM; echo ready; while :; do sleep 0.02; done`;
  const process = await client.start({ argv: sh(script) });
  const chunks: Uint8Array[] = [];
  let end: unknown;
  let closing: Promise<void> | undefined;
  for await (const event of process) {
    if (event.type === "output" && event.stream === "stdout") chunks.push(event.chunk);
    if (event.type === "closed") end = event.bytes;
    closing ??= host.server.close();
  }
  await closing;
  expect(end).toMatchObject({ stdout: BYTES + "ready\n".length });
  expect(sha256(...chunks)).toBe(sha256(Buffer.from("ready\n"), Buffer.alloc(BYTES)));
});
