// Large transfers in both directions, directly and through a relay: every byte, in order, compared by sha256.
import { randomBytes } from "node:crypto";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { connect } from "../../lib/connect.ts";
import { type ExecwireServer, serve } from "../../lib/server/server.ts";
import { limits } from "../../protocol/index.ts";
import { sha256 } from "../support/digest.ts";
import { end, outcome, printed } from "../support/outcome.ts";
import { fixture, sh } from "../support/programs.ts";
import { transcript } from "../support/transcript.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";

const TEN_MB = 10_000_000;

describe.each(["direct", "relayed"])("a %s connection", (kind) => {
  let host: WireHost;
  let relay: ExecwireServer | undefined;
  let client: RemoteBackend;
  beforeAll(async () => {
    host = await WireHost.open();
    client = await host.connect();
    if (kind === "direct") return;
    relay = await serve(client, { auth: { kind: "none" }, listen: { host: "127.0.0.1", port: 0 } });
    client = await connect(relay.url as string);
  });
  afterAll(async () => {
    client.link.close();
    await relay?.close();
    await host.close();
  });

  it("carries 10 MB of output unchanged", async () => {
    const process = await client.start({ argv: fixture("print-random.mjs", `${TEN_MB}`) });
    const chunks = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[], pty: [] as Uint8Array[] };
    for await (const event of process.iterate({ delivery: "lossless" })) {
      if (event.type === "gap") throw new Error(`lost ${event.firstSeq}..${event.lastSeq}`);
      if (event.type === "output") chunks[event.stream].push(event.chunk);
    }
    expect(sha256(...chunks.stdout)).toBe(Buffer.concat(chunks.stderr).toString());
  });

  it.each([
    ["in one write", TEN_MB],
    ["in writes that are not awaited", 70_000],
  ])("carries 10 MB of input unchanged, %s", async (_name, size) => {
    const process = await client.start({ argv: fixture("digest-input.mjs"), pipeStdin: true });
    const bytes = randomBytes(TEN_MB);
    const writes: Promise<string>[] = [];
    for (let at = 0; at < bytes.length; at += size) writes.push(process.write(bytes.subarray(at, at + size)));
    await process.closeStdin();
    expect(new Set(await Promise.all(writes))).toEqual(new Set(["accepted"]));
    expect((await outcome(process)).stdout).toBe(`${sha256(bytes)}\n`);
  });

  it("delivers the same events as the supervisor itself", async () => {
    const process = await client.start({
      argv: sh("echo one; read line; echo $line >&2; read line; exit 3"),
      pipeStdin: true,
    });
    await printed(process, "one");
    await process.write("two\n");
    await printed(process, "two");
    await process.write("three\n");
    await end(process);
    const local = await host.supervisor.attach(process.id);
    expect(await transcript(process)).toEqual(await transcript(local));
    expect(local.incarnation).toBe(process.incarnation);
    expect(await transcript(await client.attach(process.id))).toEqual(await transcript(local));
  });

  it("makes the process wait for a lossless reader that stops, which then goes on without loss", async () => {
    const size = 5_000_000;
    const process = await client.start({ argv: sh(`/usr/bin/head -c ${size} /dev/zero; echo done >&2`) });
    const reader = process.iterate({ delivery: "lossless" });
    await reader.next();
    let sum = limits.chunkBytes;
    let read = 1;
    // Everything in flight arrives while the reader is stopped: the reply to a list comes behind it.
    for (let round = 0; round < 50; round += 1) await client.list();
    expect(process.info.state).toBe("running");
    for await (const event of reader) {
      read += 1;
      expect(event.type).not.toBe("gap");
      if (event.type === "output") sum += event.chunk.length;
      if (event.type !== "gap") expect(event.seq).toBe(read);
    }
    expect(sum).toBeGreaterThanOrEqual(size);
  });

  it("refuses a write that exceeds a frame, and accepts later ones", async () => {
    const process = await client.start({ argv: ["/bin/cat"], pipeStdin: true });
    const tooMuch = process.write(new Uint8Array(limits.frameBytes + 1));
    await expect(tooMuch).rejects.toMatchObject({ code: expect.stringMatching(/^(INVALID_PARAMS|LIMIT_EXCEEDED)$/) });
    expect(await process.write("still here\n")).toBe("accepted");
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("still here\n");
  });
});

describe("a client and a server with different windows", () => {
  let host: WireHost;
  afterAll(() => host.close());

  it("transfer all output, with the smaller window on either side", async () => {
    host = await WireHost.open({ limits: { windowBytes: 100_000 } });
    for (const windowBytes of [1_000_000, 10_000]) {
      const client = await host.connect({ limits: { windowBytes }, token: TOKEN });
      const process = await client.start({ argv: sh("/usr/bin/head -c 3000000 /dev/zero") });
      let sum = 0;
      for await (const event of process) if (event.type === "output") sum += event.chunk.length;
      expect([windowBytes, sum]).toEqual([windowBytes, 3_000_000]);
    }
  });
});
