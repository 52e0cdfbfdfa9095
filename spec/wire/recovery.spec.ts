// A client that reconnects: no output is lost, no call takes effect twice, and calls wait for the connection.
import { existsSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { firstValueFrom, map, toArray } from "rxjs";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { sha256 } from "../support/digest.ts";
import { printed } from "../support/outcome.ts";
import { fixture, sh } from "../support/programs.ts";
import { makeScratch } from "../support/scratch.ts";
import { settled } from "../support/system-wait.ts";
import { closed, exited, output, seen } from "../support/transcript.ts";
import { WireHost } from "../support/wire-host.ts";
import { becomes } from "../support/wire-link.ts";

/** `EXECWIRE_CUTS=1000 npm test -- spec/wire/recovery` is the long variant. */
const CUTS = Number(process.env.EXECWIRE_CUTS ?? 300);

describe("a client that reconnects", () => {
  const scratch = makeScratch();
  let host: WireHost;
  let client: RemoteBackend;
  beforeAll(async () => {
    // Without a connection no reader makes the process wait: all output of that time must fit into the log.
    host = await WireHost.open({ limits: { retainedBytes: 256 * 1024 * 1024, retainedEvents: 1_000_000 } });
    client = await host.connect();
  });
  afterAll(() => host.close());

  // remote_exec_process_recovers_after_transport_disconnect of the exec-server's own tests.
  it("gets the output of the meantime, lets a read wait for the connection, and delivers one line of input", async () => {
    const [gate, emitted] = [scratch("gate"), scratch("emitted")];
    const process = await client.start({
      argv: sh(`printf 'ready:%s\\n' $$
        while [ ! -f "$GATE" ]; do /bin/sleep 0.01; done
        printf 'during:%s\\n' $$
        : > "$EMITTED"
        IFS= read -r line
        printf 'after:%s:%s\\n' $$ "$line"
        exit 7`),
      env: { GATE: gate, EMITTED: emitted },
      pipeStdin: true,
    });
    const everything = firstValueFrom(process.events().pipe(map(seen), toArray()));
    const ready = await printed(process, /ready:\d+\n/);
    const pid = ready.slice("ready:".length, -1);

    host.proxy.refuse();
    await becomes(client, "recovering");
    writeFileSync(gate, "");
    expect(await settled(() => existsSync(emitted), Boolean)).toBe(true);
    const events: string[] = [];
    const reading = process.read({ afterSeq: 1 }).finally(() => events.push("read"));
    events.push("admitted");
    host.proxy.admit();

    const { chunks } = await reading;
    expect(events).toEqual(["admitted", "read"]);
    expect(chunks.map(seen)).toEqual([output(2, "stdout", `during:${pid}\n`)]);
    expect(await process.write("hello\n")).toBe("accepted");
    const lines = [ready, `during:${pid}\n`, `after:${pid}:hello\n`];
    expect(await everything).toEqual([
      output(1, "stdout", lines[0] as string),
      output(2, "stdout", lines[1] as string),
      output(3, "stdout", lines[2] as string),
      exited(4, { exitCode: 7, result: "error" }),
      closed(5, { stdout: lines.join("").length }),
    ]);
  });

  it(
    `sees every byte once and delivers every line once, in order, through ${CUTS} cuts`,
    async () => {
      const process = await client.start({ argv: fixture("talk.mjs"), pipeStdin: true });
      const chunks = { stdout: [] as Uint8Array[], stderr: [] as Uint8Array[], pty: [] as Uint8Array[] };
      const seqs: number[] = [];
      const done = process.events().forEach((event) => {
        seqs.push(event.type === "gap" ? -event.firstSeq : event.seq);
        if (event.type === "output") chunks[event.stream].push(event.chunk);
      });
      const { proxy } = host;
      const [cutsBefore, statuses] = [proxy.cuts, [] as Promise<string>[]];
      let line = 0;
      const write = () => statuses.push(process.write(`line ${line++}\n`));
      // Writes in every state of the link, without awaiting them.
      const writing = client.link.state$.subscribe(() => [write(), write()]);
      const size = pseudoRandom(1);
      const cutEnough = new Promise<void>((resolve) => {
        proxy.cutAfter(() => {
          if (proxy.cuts - cutsBefore >= CUTS) resolve();
          return 600 + size(40_000);
        });
      });
      await cutEnough;
      proxy.cutAfter(undefined);
      await becomes(client, "connected");
      writing.unsubscribe();
      const expected = Array.from({ length: line }, (_, index) => `line ${index}`);
      expect(new Set(await Promise.all(statuses))).toEqual(new Set(["accepted"]));
      expect(await process.closeStdin()).toBe("accepted");
      await done;
      expect(seqs).toEqual(seqs.map((_, index) => index + 1));
      const report = JSON.parse(Buffer.concat(chunks.stderr).toString());
      expect(report.lines).toEqual(expected);
      expect(sha256(...chunks.stdout)).toBe(report.sha256);
    },
    20_000 + CUTS * 200,
  );
});

/** Numbers below a bound that are the same in every run. */
function pseudoRandom(seed: number): (bound: number) => number {
  let state = seed;
  return (bound) => {
    state = (Math.imul(state, 1_103_515_245) + 12_345) & 0x7fff_ffff;
    return (state >> 8) % bound;
  };
}
