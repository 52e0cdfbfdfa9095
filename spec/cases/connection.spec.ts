// Reported bugs of connections: idle ones that are cut, dead ones that stay unnoticed, and sessions that have ended or
// belong to another client.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { type AddressInfo, connect as connectTcp, createServer, type Server, type Socket } from "node:net";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { connect } from "../../lib/connect.ts";
import { serve } from "../../lib/server/server.ts";
import { openWebSocket } from "../../lib/transport/websocket/websocket-client.ts";
import { limits as defaults, SUBPROTOCOL } from "../../protocol/index.ts";
import { TellingClock } from "../support/fake-clock.ts";
import { nextTurn } from "../support/next-turn.ts";
import { exitOf, outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { settled } from "../support/system-wait.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { becomes } from "../support/wire-link.ts";
import { WirePeer } from "../support/wire-peer.ts";

const env = { PATH: "/usr/bin:/bin" };
const auth = { kind: "token", token: TOKEN } as const;
const lost = (reason: string) => ({ code: "CONNECTION_LOST", data: { reason } });

describe("connections", () => {
  let host: WireHost;
  const undo: (() => unknown)[] = [];
  afterEach(async () => {
    for (const step of undo.splice(0).reverse()) await step();
    await host.close();
  });

  const portOf = (url: string | undefined) => Number(new URL(url as string).port);

  async function peer(): Promise<WirePeer> {
    const bounds = { frameBytes: 1e6, handshakeMs: 5_000 };
    return new WirePeer(await openWebSocket(host.server.url as string, SUBPROTOCOL, bounds)());
  }

  async function client(url: string, limits = {}): Promise<RemoteBackend> {
    const backend = await connect(url, { token: TOKEN, limits: { backoffFirstMs: 1, backoffLastMs: 20, ...limits } });
    undo.push(() => backend.link.close());
    return backend;
  }

  it("P78 a quiet command outlives a proxy that cuts idle connections", async () => {
    expect(2 * defaults.pingMs).toBeLessThan(60_000);
    // The same scaled down: a ping each sixth of the time that the proxy allows, and a silence of twice that time.
    host = await WireHost.open({ limits: { pingMs: 250 } });
    const proxy = await idleProxy(portOf(host.server.url), 1_500);
    undo.push(() => proxy.close());
    const backend = await client(proxy.url);
    const process = await backend.start({ argv: sh("sleep 3; echo ok"), env });
    expect((await outcome(process)).stdout).toBe("ok\n");
    expect([proxy.connections, backend.link.state]).toEqual([1, "connected"]);
  });

  it("P78 both sides send pings that a browser can see, as often as the server announces", async () => {
    host = await WireHost.open({ limits: { pingMs: 100 } });
    const browser = await peer();
    browser.hello(TOKEN);
    expect((await browser.next("welcome")).limits).toMatchObject({ pingMs: 100 });
    await browser.next("ping");
    browser.say({ type: "pong" });
    browser.say({ type: "ping" });
    await browser.next("pong");
    await browser.next("ping");
    browser.transport.terminate();
  });

  it("P79 both sides notice that a proxy has stopped, and continue at the same position when the proxy continues", async () => {
    host = await WireHost.open({ limits: { pingMs: 100 } });
    const proxy = await forwarder(portOf(host.server.url));
    const backend = await client(proxy.url, { handshakeMs: 200 });
    const process = await backend.start({ argv: sh("echo one; read line; echo $line"), pipeStdin: true });
    await printed(process, "one");
    const before = performance.now();
    proxy.child.kill("SIGSTOP");
    await becomes(backend, "recovering");
    // Three pings; the kernel would retransmit for a quarter of an hour.
    expect(performance.now() - before).toBeLessThan(5_000);
    const writing = process.write("two\n");
    proxy.child.kill("SIGCONT");
    expect(await writing).toBe("accepted");
    expect((await outcome(process)).stdout).toBe("one\ntwo\n");
  });

  it("P79 behind a proxy that stays stopped, the session expires and its processes are ended", async () => {
    host = await WireHost.open({ limits: { pingMs: 100, sessionTtlMs: 300 } });
    const proxy = await forwarder(portOf(host.server.url));
    const backend = await client(proxy.url, { handshakeMs: 100, recoveryMs: 250 });
    const process = await backend.start({ argv: ["sleep", "900"], env });
    const here = await host.supervisor.attach(process.id);
    const told = refusal(firstValueFrom(process.exit$));
    proxy.child.kill("SIGSTOP");
    expect(await exitOf(here)).toMatchObject({ signal: "SIGTERM", reason: "terminate" });
    expect(await told).toEqual(lost("unreachable"));
  });

  it("P81 a client that resumes an unknown session is refused at once, and does not retry", async () => {
    host = await WireHost.open();
    const stranger = await peer();
    stranger.hello(TOKEN, { resume: { sessionId: "stale", secret: "stale", pending: [1] } });
    expect(await stranger.closed).toMatchObject({ code: 4404 });
    expect(stranger.received).toEqual([]);

    const backend = await host.connect();
    const process = await backend.start({ argv: ["sleep", "900"], env });
    const told = [refusal(firstValueFrom(process.exit$)), refusal(process.read({ waitMs: 60_000 }))];
    host.proxy.refuse();
    await becomes(backend, "recovering");
    await host.server.close();
    const listen = { host: "127.0.0.1", port: portOf(host.server.url) };
    const again = await serve(host.supervisor, { auth, listen });
    undo.push(() => again.close());
    host.proxy.admit();
    expect(await Promise.all(told)).toEqual([lost("session-unknown"), lost("session-unknown")]);
    expect(process.info).toMatchObject({ state: "running", exitCode: null, signal: null });
    // A new client can connect meanwhile: the proxy counts it and one attempt of the other client.
    expect(await (await host.connect()).list()).toHaveLength(1);
    expect([host.proxy.connections, backend.link.state]).toEqual([3, "closed"]);
  });

  it("P82 two clients that start at the same moment get a process each, or one is refused because the id is taken", async () => {
    host = await WireHost.open();
    const clients = [await host.connectDirectly(), await host.connectDirectly()];
    for (let round = 0; round < 50; round += 1) {
      const names = ["a", "b"].map((name) => `${name}${round}`);
      const started = await Promise.all(
        clients.map((backend, index) => backend.start({ argv: ["echo", names[index] as string], env })),
      );
      const outputs = await Promise.all(started.map(async (process) => (await outcome(process)).stdout.trim()));
      expect(outputs).toEqual(names);
      const spec = { argv: ["true"], env, processId: `same ${round}` };
      const both = await Promise.allSettled(clients.map((backend) => backend.start(spec)));
      const [refused, ...others] = both.filter(({ status }) => status === "rejected");
      expect([refused, others]).toMatchObject([{ reason: { code: "PROCESS_EXISTS" } }, []]);
    }
  });

  /** Cuts the connection of a client for so long, by the clocks of both ends, and then lets it reconnect if it still tries. */
  async function outage(clock: TellingClock, backend: RemoteBackend, ms: number, ttlMs: number): Promise<void> {
    host.proxy.refuse();
    await becomes(backend, "recovering");
    await settled(
      () => clock.asked,
      (asked) => asked.includes(ttlMs),
    );
    for (let passed = 0; passed < ms; passed += 1_000) {
      clock.advance(1_000);
      await nextTurn();
    }
    host.proxy.admit();
    await settled(
      () => {
        clock.advance(10);
        return backend.link.state;
      },
      (state) => state !== "recovering",
    );
  }

  it.each([24, 31])("P84 a client continues after an outage of %s s", async (seconds) => {
    const clock = new TellingClock();
    host = await WireHost.open({ clock });
    const backend = await host.connect({ clock });
    const process = await backend.start({ argv: ["sleep", "900"], env });
    await outage(clock, backend, seconds * 1_000, defaults.sessionTtlMs);
    expect(await process.terminate({ graceMs: 0 })).toEqual({ running: true });
    expect(await exitOf(process)).toMatchObject({ signal: "SIGKILL", reason: "terminate" });
  });

  it("P84 an outage of 10 min ends the processes; their client learns it, and every client can read how they ended", async () => {
    const clock = new TellingClock();
    host = await WireHost.open({ clock });
    const backend = await host.connect({ clock });
    const [ended, kept] = [
      await backend.start({ argv: ["sleep", "900"], env }),
      await backend.start({ argv: ["sleep", "900"], env, onDetach: "keep" }),
    ];
    const told = [ended, kept].map((process) => refusal(firstValueFrom(process.exit$)));
    await outage(clock, backend, 600_000, defaults.sessionTtlMs);
    expect(await Promise.all(told)).toEqual([lost("unreachable"), lost("unreachable")]);
    const later = await host.connectDirectly();
    expect(await exitOf(await later.attach(ended.id))).toMatchObject({ reason: "terminate", result: "terminated" });
    expect((await later.attach(kept.id)).info.state).toBe("running");
  });

  it("P84 a client that reconnects after the session time of the server is refused because the session has ended", async () => {
    const clock = new TellingClock();
    const sessionTtlMs = 20_000;
    host = await WireHost.open({ clock, limits: { sessionTtlMs } });
    const visible = await peer();
    visible.hello(TOKEN);
    expect((await visible.next("welcome")).limits).toMatchObject({ sessionTtlMs });
    visible.transport.terminate();
    const backend = await host.connect({ clock });
    const process = await backend.start({ argv: ["sleep", "900"], env });
    const told = refusal(firstValueFrom(process.exit$));
    await outage(clock, backend, 24_000, sessionTtlMs);
    expect(await told).toEqual(lost("session-unknown"));
  });

  /** A proxy in a program of its own, which can be stopped. */
  async function forwarder(port: number): Promise<{ readonly url: string; readonly child: ChildProcess }> {
    const argv = [join(import.meta.dirname, "programs/forwarder.mjs"), String(port)];
    const child = spawn(process.execPath, argv, { stdio: ["ignore", "pipe", "inherit"] });
    undo.push(() => child.kill("SIGKILL"));
    const [line] = await once(child.stdout, "data");
    return { url: `ws://127.0.0.1:${Number(String(line))}`, child };
  }
});

/** A proxy that cuts connections that are idle for a while. */
async function idleProxy(port: number, idleMs: number) {
  const sockets = new Set<Socket>();
  const counts = { connections: 0 };
  const server: Server = createServer((near) => {
    counts.connections += 1;
    const far = connectTcp(port, "127.0.0.1");
    for (const [from, to] of [
      [near, far],
      [far, near],
    ] as const) {
      sockets.add(from);
      from.pipe(to);
      from.on("error", () => undefined).on("close", () => to.destroy());
      // Both directions count, since reads and writes reset the timeout of a socket.
      from.setTimeout(idleMs, () => from.destroy());
    }
  }).listen(0, "127.0.0.1");
  await once(server, "listening");
  return {
    url: `ws://127.0.0.1:${(server.address() as AddressInfo).port}`,
    get connections() {
      return counts.connections;
    },
    close() {
      server.close();
      for (const socket of sockets) socket.destroy();
    },
  };
}
