// Reported bugs of replay: late viewers, the seam between replayed and live events, unreported losses, and
// positions that belong to another incarnation of a process.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { firstValueFrom, take, toArray } from "rxjs";
import { connect } from "../../lib/connect.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { Backend } from "../../lib/process/backend.ts";
import { lines } from "../../lib/process/lines.ts";
import type { Process } from "../../lib/process/process.ts";
import { text } from "../../lib/process/text.ts";
import { serve } from "../../lib/server/server.ts";
import { openWebSocket } from "../../lib/transport/websocket/websocket-client.ts";
import { type Delivery, type GapNotice, SUBPROTOCOL } from "../../protocol/index.ts";
import { sha256 } from "../support/digest.ts";
import { end, outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { closed, exited, output, seen, transcript } from "../support/transcript.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { WirePeer } from "../support/wire-peer.ts";
import { describeCases } from "./describe-cases.ts";

const env = { PATH: "/usr/bin:/bin" };
const RED = "\x1b[38;5;196mRED\x1b[0m\r\n";

/** What a subscriber received, in short: its bytes, its gaps, and whether a seq was missing or came twice. */
interface Account {
  readonly bytes: number;
  readonly lost: number;
  readonly holes: number;
}

/** Follows a process from the beginning to the end. */
async function account(process: Process): Promise<Account> {
  let [bytes, lost, holes, seq] = [0, 0, 0, 0];
  await process.events().forEach((event) => {
    if ((event.type === "gap" ? event.firstSeq : event.seq) !== seq + 1) holes += 1;
    seq = event.type === "gap" ? event.lastSeq : event.seq;
    if (event.type === "gap") lost += event.bytes ?? Number.NaN;
    if (event.type === "output") bytes += event.chunk.length;
  });
  return { bytes, lost, holes };
}

/** Adds `count` viewers one after another, spread over the time in which a process prints `bytes`. */
async function joinMeanwhile(
  process: Process,
  bytes: number,
  count: number,
  join: (index: number) => Promise<Process>,
) {
  const accounts: Promise<Account>[] = [];
  let sum = 0;
  await process.output$.forEach((event) => {
    if (event.type === "output") sum += event.chunk.length;
    for (; accounts.length < count && sum >= (bytes * accounts.length) / count; ) {
      accounts.push(join(accounts.length).then(account));
    }
  });
  return Promise.all(accounts);
}

/** A program that prints `bytes` when it gets a line of input. */
const flood = (bytes: number) => ({ argv: sh(`read -r _; yes | head -c ${bytes}`), pipeStdin: true, env });

describeCases("replay", (subject) => {
  const { start } = subject;

  it("P60 a late viewer of a colourful flood gets an exact gap, and the rest unchanged", async () => {
    const script = `stty -echo; yes "$(printf '\\033[38;5;196mRED\\033[0m')" | head -n 100000; echo 5 files`;
    const process = await start({ argv: sh(script), tty: true, env });
    await end(process);
    const late = await subject.backend.attach(process.id);
    const deliveries = await firstValueFrom(late.output$.pipe(toArray()));
    const [first, ...rest] = deliveries as [GapNotice, ...Delivery[]];
    const kept = Buffer.concat(rest.flatMap((event) => (event.type === "output" ? [event.chunk] : [])));
    const whole = Buffer.from(`${RED.repeat(100_000)}5 files\r\n`);
    expect(first).toMatchObject({ type: "gap", firstSeq: 1, bytes: whole.length - kept.length });
    expect(sha256(kept)).toBe(sha256(whole.subarray(-kept.length)));
  });

  it("P63 subscribers that join a flood get neither holes nor duplicates", async () => {
    const bytes = 5_000_000;
    const process = await start(flood(bytes));
    const joining = joinMeanwhile(process, bytes, 50, () => subject.backend.attach(process.id));
    await process.write("\n");
    const accounts = await joining;
    expect(accounts).toHaveLength(50);
    for (const { bytes: got, lost, holes } of accounts) expect([got + lost, holes]).toEqual([bytes, 0]);
  });

  it("P64 a reader can continue after any seq, also one that a filter has dropped", async () => {
    const script = "for word in one two three four; do read -r _; printf $word; done";
    const process = await start({ argv: sh(script), tty: { echo: false }, env });
    for (const [index, word] of ["one", "two", "three", "four"].entries()) {
      await process.resize({ rows: 24, cols: 100 + index });
      await process.write("\n");
      await printed(process, word);
    }
    await end(process);
    const whole = await transcript(process);
    expect(whole.map((event) => ("seq" in event ? event.seq : 0))).toEqual(whole.map((_, index) => index + 1));
    for (let seq = 0; seq <= whole.length; seq += 1) expect(await transcript(process, seq)).toEqual(whole.slice(seq));
    // `output$` is such a filter: it drops resizes, so their seqs are missing among its events.
    const shown = await firstValueFrom(process.output$.pipe(toArray()));
    const outputs = whole.filter((event) => event.type === "output");
    expect(shown.map(seen)).toEqual(outputs);
    for (const [index, event] of outputs.entries()) {
      const { chunks } = await process.read({ afterSeq: event.seq });
      expect(chunks.map(seen)).toEqual(outputs.slice(index + 1));
    }
  });

  it("P66 every way to read an overflowed log from its beginning reports the loss", async () => {
    const process = await start({ argv: sh("head -c 3000000 /dev/zero | tr '\\0' x"), env });
    await end(process);
    const late = await subject.backend.attach(process.id);
    const { gap, chunks } = await late.read();
    const kept = chunks.reduce((sum, { chunk }) => sum + chunk.length, 0);
    expect(gap).toMatchObject({ type: "gap", firstSeq: 1, bytes: 3_000_000 - kept });
    const events = await firstValueFrom(late.events().pipe(toArray()));
    expect(events.filter(({ type }) => type === "gap")).toEqual([gap]);
    const outputs = await firstValueFrom(late.output$.pipe(toArray()));
    expect(outputs[0]).toEqual(gap);
    expect((await late[Symbol.asyncIterator]().next()).value).toEqual(gap);
    const data = { firstSeq: 1, lastSeq: gap?.lastSeq };
    const mark = `[... ${gap?.bytes} bytes omitted ...]`;
    expect(await firstValueFrom(text(late).pipe(take(1)))).toBe(`${mark}\n`);
    expect(await firstValueFrom(lines(late))).toEqual({ stream: "stdout", seq: gap?.lastSeq, text: mark, gap });
    const onGap = "error";
    const readings = [firstValueFrom(text(late, { onGap })), firstValueFrom(lines(late, { onGap }))];
    for (const reading of readings) expect(await refusal(reading)).toEqual({ code: "OUTPUT_LOST", data });
    expect((await late.read({ afterSeq: 1, maxBytes: 1 })).gap).toMatchObject({ firstSeq: 2, lastSeq: gap?.lastSeq });
  });
});

describe("replay for other clients", () => {
  let host: WireHost;
  beforeEach(async () => {
    host = await WireHost.open({ auth: { kind: "token", token: TOKEN, viewToken: "for viewers" } });
  });
  afterEach(() => host.close());

  it("P63 clients that join a flood get neither holes nor duplicates", async () => {
    const bytes = 5_000_000;
    const clients = await Promise.all(Array.from({ length: 10 }, () => host.connectDirectly()));
    const process = await (await host.connectDirectly()).start(flood(bytes));
    const joining = joinMeanwhile(process, bytes, clients.length, (index) =>
      (clients[index] as Backend).attach(process.id),
    );
    await process.write("\n");
    for (const { bytes: got, lost, holes } of await joining) expect([got + lost, holes]).toEqual([bytes, 0]);
  });

  it("P69 a reloaded page is another client and reads the same log from any position", async () => {
    const page = await host.connect();
    const process = await page.start({
      argv: sh("echo one; read -r _; echo two; read -r _; echo three"),
      pipeStdin: true,
      onDetach: "keep",
    });
    await printed(process, "one");
    await process.write("\n");
    await printed(process, "two");
    // Like a page that is closed: without a message, and nothing is kept.
    host.proxy.refuse();
    page.link.close();
    const [again, viewer] = [await host.connectDirectly(), await host.connectDirectly({ token: "for viewers" })];
    const found = await again.attach(process.id);
    const watched = await viewer.attach(process.id);
    const rest = [transcript(found, 1), transcript(watched), transcript(watched, 2)];
    expect(await found.write("\n")).toBe("accepted");
    const whole = [output(1, "stdout", "one\n"), output(2, "stdout", "two\n"), output(3, "stdout", "three\n")];
    const ends = [exited(4), closed(5, { stdout: 14 })];
    expect(await Promise.all(rest)).toEqual([
      [...whole.slice(1), ...ends],
      [...whole, ...ends],
      [...whole.slice(2), ...ends],
    ]);
  });

  it("P75 a position in a log is invalid after the server was restarted", async () => {
    const spec = { argv: sh("echo one; read -r _"), processId: "build", pipeStdin: true };
    const before = await (await host.connectDirectly()).start(spec);
    await printed(before, "one");
    const { incarnation } = before;
    await host.server.close();
    await host.supervisor.close();

    const supervisor = createSupervisor();
    const listen = { host: "127.0.0.1", port: 0 };
    const server = await serve(supervisor, { auth: { kind: "token", token: TOKEN }, listen });
    const client = await connect(server.url as string, { token: TOKEN });
    // A connected client learns that the server has stopped, a new client that there is no such process.
    const stopped = { code: "CONNECTION_LOST", data: { reason: "server-stopped" } };
    expect(await refusal(before.read({ afterSeq: 5000 }))).toEqual(stopped);
    expect(await refusal(client.attach("build"))).toEqual({ code: "PROCESS_UNKNOWN", data: {} });
    const after = await client.start(spec);
    expect(after.incarnation).not.toBe(incarnation);
    const peer = new WirePeer(
      await openWebSocket(server.url as string, SUBPROTOCOL, { frameBytes: 1e6, handshakeMs: 5_000 })(),
    );
    peer.hello(TOKEN);
    await peer.next("welcome");
    peer.request(1, "process/subscribe", { processId: "build", incarnation, afterSeq: 5000, delivery: "gap" });
    expect(await peer.reply(1)).toMatchObject({ error: { code: "PROCESS_UNKNOWN" } });
    peer.request(2, "process/read", { processId: "build", incarnation, afterSeq: 5000 });
    expect(await peer.reply(2)).toMatchObject({ error: { code: "PROCESS_UNKNOWN" } });
    // A position beyond the end of a log yields nothing until the log gets there: no event has another seq than its own.
    await after.write("\n");
    expect([await transcript(after, 5000), (await outcome(after)).stdout]).toEqual([[], "one\n"]);
    peer.transport.terminate();
    await client.close();
    await server.close();
    await supervisor.close();
  });
});
