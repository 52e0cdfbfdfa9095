// The life cycle of a session: it outlives its connection for a time, belongs to the client that has its secret, and its end
// reaches every waiting call as a typed error, never as an invented exit.
import { afterEach, describe, expect, it } from "@jest/globals";
import { filter, firstValueFrom, lastValueFrom } from "rxjs";
import { connectOver } from "../../lib/client/connect.ts";
import type { Process } from "../../lib/process/process.ts";
import { serve } from "../../lib/server/server.ts";
import type { OpenTransport } from "../../lib/transport/transport.ts";
import { openWebSocket } from "../../lib/transport/websocket/websocket-client.ts";
import { decode, SUBPROTOCOL } from "../../protocol/index.ts";
import { TellingClock } from "../support/fake-clock.ts";
import { end, exitOf, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { settled } from "../support/system-wait.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { becomes } from "../support/wire-link.ts";
import { type Message, WirePeer } from "../support/wire-peer.ts";

describe("a session", () => {
  let host: WireHost;
  afterEach(() => host.close());

  const sleep = { argv: ["/bin/sleep", "600"] };

  async function peer(): Promise<WirePeer> {
    return new WirePeer(
      await openWebSocket(host.server.url as string, SUBPROTOCOL, { frameBytes: 1e6, handshakeMs: 5_000 })(),
    );
  }

  /** The errors with which all kinds of waiting calls of a process end. */
  function waiters(process: Process): Promise<unknown[]> {
    const waiting = [
      lastValueFrom(process.events()),
      firstValueFrom(process.exit$),
      firstValueFrom(process.closed$),
      process.read({ afterSeq: 1_000, waitMs: 60_000 }),
    ];
    return Promise.all(waiting.map((promise) => refusal(promise)));
  }

  it("keeps nothing of a closed process for a client that has read its end", async () => {
    host = await WireHost.open({ limits: { closedBytes: 10_000 } });
    const client = await host.connectDirectly();
    const first = await client.start({ argv: sh("read -r line; head -c 60000 /dev/zero"), pipeStdin: true });
    await first.write("\n");
    for await (const event of first.iterate({ delivery: "lossless" })) expect(event.type).not.toBe("gap");
    const { log } = await host.supervisor.attach(first.id);
    expect(log.firstSeq).toBe(1);
    // Exceeds the output that is kept of all closed processes.
    await end(await client.start({ argv: ["true"] }));
    expect(log.firstSeq).toBe(log.headSeq);
  });

  it("ends its processes when the client does not reconnect in time, except those with onDetach keep", async () => {
    const clock = new TellingClock();
    host = await WireHost.open({ clock, limits: { sessionTtlMs: 1_000 } });
    const client = await host.connect();
    const ended = await client.start(sleep);
    const kept = await client.start({ ...sleep, onDetach: "keep" });
    host.proxy.refuse();
    // The server has noticed the loss when it has armed the timer.
    await settled(
      () => clock.asked,
      (asked) => asked.includes(1_000),
    );
    const [localEnded, localKept] = await Promise.all([ended, kept].map(({ id }) => host.supervisor.attach(id)));
    clock.advance(999);
    expect(localEnded?.info.state).toBe("running");
    clock.advance(1);
    await end(localEnded as Process);
    expect(await exitOf(localEnded as Process)).toMatchObject({ signal: "SIGTERM", reason: "terminate" });
    expect(localKept?.info.state).toBe("running");
  });

  it("is unknown to a server that was restarted after a crash: no exit is invented", async () => {
    host = await WireHost.open();
    const client = await host.connect();
    const process = await client.start(sleep);
    const errors = waiters(process);
    const port = Number(new URL(host.server.url as string).port);
    // Without a close frame, as in a crash.
    host.proxy.refuse();
    await becomes(client, "recovering");
    await host.server.close();
    const listen = { host: "127.0.0.1", port };
    const again = await serve(host.supervisor, { auth: { kind: "token", token: TOKEN }, listen });
    host.proxy.admit();
    const lost = { code: "CONNECTION_LOST", data: { reason: "session-unknown" } };
    expect(await errors).toEqual([lost, lost, lost, lost]);
    expect(client.link.state).toBe("closed");
    expect(await refusal(client.list())).toEqual(lost);
    await again.close();
  });

  it("ends when its server announces that it stops", async () => {
    host = await WireHost.open();
    const client = await host.connect();
    await host.server.close();
    await becomes(client, "closed");
    expect(await refusal(client.list())).toEqual({ code: "CONNECTION_LOST", data: { reason: "server-stopped" } });
  });

  it("is given up when the client cannot reconnect within recoveryMs", async () => {
    host = await WireHost.open();
    const client = await host.connect({ limits: { recoveryMs: 150 } });
    const process = await client.start(sleep);
    const errors = waiters(process);
    host.proxy.refuse();
    await becomes(client, "recovering");
    const late = refusal(process.write("x"));
    const lost = { code: "CONNECTION_LOST", data: { reason: "unreachable" } };
    expect(await errors).toEqual([lost, lost, lost, lost]);
    expect(await late).toEqual(lost);
    expect(await refusal(client.start(sleep))).toEqual(lost);
  });

  it("ends with its processes when its client closes", async () => {
    host = await WireHost.open();
    const client = await host.connect();
    const process = await client.start({ argv: sh("trap '' TERM; echo ready; while :; do /bin/sleep 0.01; done") });
    await printed(process, "ready");
    const outcome = process.read({ afterSeq: 1_000, waitMs: 60_000 }).then(
      ({ closed }) => ({ closed }),
      (error: { code?: string }) => ({ code: error.code }),
    );
    const local = await host.supervisor.attach(process.id);
    await client.close({ graceMs: 0 });
    expect(local.info).toMatchObject({ state: "closed", signal: "SIGKILL" });
    expect(client.link.state).toBe("closed");
    // The waiting read is ended by the end of the process or by the close of the client, which may come first.
    expect([{ closed: true }, { code: "CLOSED" }]).toContainEqual(await outcome);
    expect(await refusal(client.list())).toEqual({ code: "CLOSED", data: {} });
  });

  it("belongs to the last connection that resumed it: the earlier one is closed with 4409", async () => {
    host = await WireHost.open();
    const first = await peer();
    first.hello(TOKEN);
    const { sessionId, secret } = await first.next("welcome");
    const second = await peer();
    second.hello(TOKEN, { resume: { sessionId, secret, pending: [] } });
    expect(await second.next("welcome")).toMatchObject({ sessionId, resumed: true });
    expect(await first.closed).toMatchObject({ code: 4409 });
  });

  it("is not taken back by a client that lost it to another one", async () => {
    host = await WireHost.open();
    const door = new OpenDoor(host.server.url as string);
    const client = await connectOver(door.open, { token: TOKEN });
    const errors = waiters(await client.start(sleep));
    const { sessionId, secret } = door.welcome as Message;
    const thief = await peer();
    thief.hello(TOKEN, { resume: { sessionId, secret, pending: [] } });
    expect(await thief.next("welcome")).toMatchObject({ resumed: true });
    const lost = { code: "CONNECTION_LOST", data: { reason: "superseded" } };
    expect(await errors).toEqual([lost, lost, lost, lost]);
    expect([client.link.state, door.opened]).toEqual(["closed", 1]);
    thief.request(1, "process/list");
    expect(await thief.reply(1)).toMatchObject({ result: { processes: [{ state: "running" }] } });
  });

  it("refuses to be resumed with its id and a wrong secret, and stays as it was", async () => {
    host = await WireHost.open();
    const owner = await peer();
    owner.hello(TOKEN);
    const { sessionId, secret } = await owner.next("welcome");
    for (const resume of [
      { sessionId, secret: "", pending: [] },
      { sessionId, secret: `${secret}x`, pending: [] },
      { sessionId: "another", secret, pending: [] },
    ]) {
      const intruder = await peer();
      intruder.hello(TOKEN, { resume });
      expect(await intruder.closed).toMatchObject({ code: 4404 });
      expect(intruder.received).toEqual([]);
    }
    const noToken = await peer();
    noToken.hello(undefined, { resume: { sessionId, secret, pending: [] } });
    expect(await noToken.closed).toMatchObject({ code: 4401 });
    owner.request(1, "process/list");
    expect(await owner.reply(1)).toMatchObject({ result: { processes: [] } });
  });

  it("reveals its secret in its welcome and nowhere else", async () => {
    host = await WireHost.open();
    const owner = await peer();
    owner.hello(TOKEN);
    const { secret } = await owner.next("welcome");
    owner.request(1, "process/start", { spec: sleep, incarnation: "one", subscribe: "gap" });
    owner.request(2, "process/list");
    await owner.reply(2);
    expect(JSON.stringify(owner.received.slice(1))).not.toContain(secret);
  });

  it("survives a cut connection, together with its processes", async () => {
    host = await WireHost.open();
    const client = await host.connect();
    const process = await client.start({ argv: sh("read line; echo $line"), pipeStdin: true });
    const back = firstValueFrom(client.link.state$.pipe(filter((state) => state === "recovering")));
    host.proxy.cut();
    await back;
    expect(await process.write("still here\n")).toBe("accepted");
    expect(await printed(process, "\n")).toBe("still here\n");
  });
});

/** Opens connections and keeps their first frame, the welcome, which the client does not expose. */
class OpenDoor {
  readonly #open: OpenTransport;
  opened = 0;
  welcome: Message | undefined;

  constructor(url: string) {
    this.#open = openWebSocket(url, SUBPROTOCOL, { frameBytes: 1e6, handshakeMs: 5_000 });
  }

  readonly open: OpenTransport = async () => {
    this.opened += 1;
    const transport = await this.#open();
    return {
      listen: (handlers) =>
        transport.listen({
          ...handlers,
          frame: (frame) => {
            this.welcome ??= decode(Uint8Array.from(frame)) as Message;
            handlers.frame(frame);
          },
          closed: (code, reason) => handlers.closed(code, reason),
        }),
      send: (frame, sent) => transport.send(frame, sent),
      close: (code, reason) => transport.close(code, reason),
      terminate: () => transport.terminate(),
    };
  };
}
