// Reported bugs of flow control: stopped viewers, pauses that lose output, readers that vanish, and many viewers at once.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import type { Process } from "../../lib/process/process.ts";
import type { Transport, TransportHandlers } from "../../lib/transport/transport.ts";
import { type ClientMessage, decode, encode, PROTOCOL_VERSION, type ServerMessage } from "../../protocol/index.ts";
import { sha256 } from "../support/digest.ts";
import { exitOf, outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { stateOf } from "../support/system-facts.ts";
import { cliArgv } from "../support/system-run.ts";
import { settled } from "../support/system-wait.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { describeCases } from "./describe-cases.ts";

const env = { PATH: "/usr/bin:/bin" };

/** What seq(1) prints. */
const numbers = (last: number) => `${Array.from({ length: last }, (_, index) => index + 1).join("\n")}\n`;

/** Resolves when a process with more to print is paused: its log does not grow between two checks. */
async function heldBack(process: Process): Promise<void> {
  let before = 0;
  const look = async () => {
    const { nextSeq } = await process.read({ afterSeq: Number.MAX_SAFE_INTEGER });
    const stands = nextSeq === before;
    before = nextSeq;
    return stands;
  };
  await settled(look, Boolean);
}

/** Reads losslessly until so many bytes have arrived. */
async function printedBytes(process: Process, bytes: number): Promise<void> {
  let sum = 0;
  for await (const event of process.iterate({ delivery: "lossless" })) {
    if (event.type === "gap") throw new Error(`lost ${event.firstSeq} to ${event.lastSeq}`);
    if (event.type === "output") sum += event.chunk.length;
    if (sum >= bytes) return;
  }
}

/** A transport of the spec that keeps the frame objects that the server sends. */
class FrameKeeper implements Transport {
  readonly events: { readonly type: string; readonly frame: Uint8Array }[] = [];
  readonly subscribed: Promise<void>;
  readonly closed: Promise<void>;
  #handlers: TransportHandlers | undefined;
  #tell!: { subscribed(): void; closed(): void };

  constructor() {
    const tell: Partial<{ subscribed(): void; closed(): void }> = {};
    this.subscribed = new Promise((resolve) => {
      tell.subscribed = resolve;
    });
    this.closed = new Promise((resolve) => {
      tell.closed = resolve;
    });
    this.#tell = tell as { subscribed(): void; closed(): void };
  }

  subscribe({ id: processId, incarnation }: Process): Promise<void> {
    this.#say({ type: "hello", version: PROTOCOL_VERSION, token: TOKEN });
    const params = { processId, incarnation, afterSeq: 0, delivery: "gap" };
    this.#say({ type: "request", id: 1, acked: [], method: "process/subscribe", params });
    return this.subscribed;
  }

  listen(handlers: TransportHandlers): void {
    this.#handlers = handlers;
  }

  send(frame: Uint8Array, sent?: () => void): void {
    const message = decode(frame) as ServerMessage;
    if (message.type === "reply") this.#tell.subscribed();
    if (message.type === "event") this.events.push({ type: message.event.type, frame });
    if (message.type === "event" && message.event.type === "closed") this.#tell.closed();
    sent?.();
  }

  close(): void {}

  terminate(): void {}

  #say(message: ClientMessage): void {
    this.#handlers?.frame(encode(message));
  }
}

describeCases("flow", ({ start }) => {
  it("P72 a reader that pauses makes the program wait, and gets all of the terminal's output", async () => {
    const process = await start({ argv: ["seq", "1", "200000"], env, tty: { raw: true } });
    const chunks: Uint8Array[] = [];
    let pauses = 0;
    for await (const event of process.iterate({ delivery: "lossless" })) {
      expect(event.type).not.toBe("gap");
      if (event.type === "output") chunks.push(event.chunk);
      if (pauses < 2) {
        await heldBack(process);
        expect(process.info.state).toBe("running");
        pauses += 1;
      }
    }
    expect(sha256(...chunks)).toBe(sha256(Buffer.from(numbers(200_000))));
  });
});

describe("flow and fan-out", () => {
  let host: WireHost;
  const programs: ChildProcess[] = [];
  afterEach(async () => {
    for (const program of programs.splice(0)) program.kill("SIGKILL");
    await host.close();
  });

  /** Starts a program and collects what it prints. */
  function run(argv: readonly string[]) {
    const surroundings = { ...process.env, EXECWIRE_TOKEN: TOKEN };
    const child = spawn(argv[0] as string, argv.slice(1), { stdio: ["ignore", "pipe", "pipe"], env: surroundings });
    const printed = { stdout: "", stderr: "" };
    for (const name of ["stdout", "stderr"] as const) {
      child[name].setEncoding("latin1").on("data", (piece: string) => {
        printed[name] += piece;
      });
    }
    programs.push(child);
    return { child, printed, pid: child.pid as number };
  }

  it("P70 a stopped viewer delays no other client; it is dropped, reconnects, and gets a gap for what it missed", async () => {
    const bytes = 10_000_000;
    host = await WireHost.open({ limits: { pingMs: 100 } });
    const owner = await host.connectDirectly();
    const script = `echo ready; read -r _; head -c ${bytes} /dev/zero | tr '\\0' x; read -r _`;
    const talker = await owner.start({ argv: sh(script), env, pipeStdin: true });
    await printed(talker, "ready");
    // The other viewer connects through a proxy, which counts its connections.
    const stopped = run(cliArgv("logs", "-f", talker.id, "--url", host.proxy.url));
    await settled(
      () => stopped.printed.stdout,
      (text) => text === "ready\n",
    );
    stopped.child.kill("SIGSTOP");
    await settled(
      () => stateOf(stopped.pid),
      (state) => state === "T",
    );
    const other = await (await host.connectDirectly()).attach(talker.id);
    const gotAll = printedBytes(other, "ready\n".length + bytes);
    await talker.write("\n");
    await gotAll;
    expect(stateOf(stopped.pid)).toBe("T");

    // Much longer than three pings, timed by another process.
    await outcome(await owner.start({ argv: ["sleep", "1"], env }));
    expect(host.proxy.connections).toBe(1);
    stopped.child.kill("SIGCONT");
    await settled(
      () => host.proxy.connections,
      (count) => count === 2,
    );
    const ended = once(stopped.child, "close");
    await talker.write("\n");
    expect(await ended).toEqual([0, null]);
    const { stdout, stderr } = stopped.printed;
    expect(stdout).toMatch(/^ready\nx*$/);
    expect(stdout.length).toBeLessThan("ready\n".length + bytes);
    expect(stderr).toMatch(/lost \(events \d+ to \d+ are no longer retained\)\n/);
  });

  it.each([
    ["killed: its session expires", "SIGKILL", { sessionTtlMs: 300 }],
    ["stopped: its lease expires", "SIGSTOP", { pauseLeaseMs: 300 }],
  ] as const)("P73 a pause does not outlive a reader that is %s", async (_what, signal, limits) => {
    host = await WireHost.open({ limits });
    const { url } = host.server;
    const program = join(import.meta.dirname, "programs/stalled-reader.mjs");
    const client = run([process.execPath, program, url as string, TOKEN]);
    const id = await settled(
      () => client.printed.stdout.trim(),
      (text) => text !== "",
    );
    const seq = await host.supervisor.attach(id);
    if (signal === "SIGKILL") {
      await heldBack(seq);
      expect(seq.info.state).toBe("running");
    }
    client.child.kill(signal);
    expect(await exitOf(seq)).toMatchObject({ exitCode: 0, reason: "exited" });
    expect((await firstValueFrom(seq.closed$)).bytes.stdout).toBe(numbers(1_000_000).length);
  });

  it("P76 all of 200 viewers are served, with one frame per event for all of them", async () => {
    host = await WireHost.open();
    const process = await host.supervisor.start({ argv: sh("read -r _; echo one; echo two >&2"), pipeStdin: true });
    const viewers = Array.from({ length: 200 }, () => new FrameKeeper());
    for (const viewer of viewers) host.server.accept(viewer);
    await Promise.all(viewers.map((viewer) => viewer.subscribe(process)));
    await process.write("\n");
    await Promise.all(viewers.map(({ closed }) => closed));
    const events = viewers.map(({ events }) => events);
    const types = (events[0] ?? []).map(({ type }) => type);
    expect(types).toEqual(["output", "output", "exited", "closed"]);
    const frames = types.map((_, index) => new Set(events.map((kept) => kept[index]?.frame)).size);
    // The end is encoded once more for the last viewer: without other viewers, no frame is kept for them.
    expect(frames).toEqual([1, 1, 1, 2]);
  });

  it("P76 one viewer too many is refused with the reason, and the others stay", async () => {
    host = await WireHost.open({ limits: { connections: 3 } });
    const clients: RemoteBackend[] = [];
    for (let count = 0; count < 3; count += 1) clients.push(await host.connectDirectly());
    expect(await refusal(host.connectDirectly())).toEqual({ code: "CONNECTION_LOST", data: { reason: "server-full" } });
    expect(await Promise.all(clients.map((client) => client.list()))).toEqual([[], [], []]);
    await clients[0]?.close();
    const room = await settled(
      () => host.connectDirectly().catch(() => undefined),
      (client) => client !== undefined,
    );
    expect(await room?.list()).toEqual([]);
  });
});
