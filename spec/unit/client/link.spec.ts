// A reconnecting connection: its states, its deadlines, and the closes after which it does not reconnect.
import { describe, expect, it } from "@jest/globals";
import { Link, type LinkState } from "../../../lib/client/link.ts";
import type { ExecwireError } from "../../../lib/errors.ts";
import { limits, type ServerMessage } from "../../../protocol/index.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { refusal } from "../../support/refusal.ts";
import { ScriptedServer } from "../../support/wire-script.ts";

const TIMES = { handshakeMs: 500, recoveryMs: 10_000, backoffFirstMs: 100, backoffLastMs: 400 };

class World {
  readonly clock = new FakeClock();
  readonly server = new ScriptedServer();
  readonly states: LinkState[] = [];
  readonly messages: ServerMessage[] = [];
  /** Calls of onConnected and onClosed, in order. */
  readonly calls: string[] = [];
  /** Whether a new session could replace this one. */
  mayRenew = false;
  reason: ExecwireError | undefined;
  readonly link: Link;

  constructor(token?: string) {
    const link = new Link({
      open: this.server.open,
      token,
      clock: this.clock,
      limits: { ...limits, ...TIMES },
      onMessage: (message) => this.messages.push(message),
      onConnected: () => this.calls.push("connected"),
      onClosed: (reason) => {
        this.reason = reason;
        this.calls.push("closed");
      },
      pending: () => [3, 4],
      mayRenew: () => this.mayRenew,
      onSessionLost: () => undefined,
      outlivesServer: () => false,
    });
    link.ready.catch(() => undefined);
    link.state$.subscribe((state) => this.states.push(state));
    this.link = link;
  }

  static async connected(): Promise<World> {
    const world = new World();
    await world.server.welcome();
    return world;
  }

  async lose(code = 1006): Promise<void> {
    this.server.peer.transport.close(code, "");
    await nextTurn();
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await nextTurn();
  }
}

describe("the link of a client", () => {
  it("sends hello first, and is connected with the welcome", async () => {
    const world = new World("secret token");
    await nextTurn();
    expect(world.server.peer.received).toEqual([{ type: "hello", version: 1, token: "secret token" }]);
    expect(world.states).toEqual(["connecting"]);
    await world.server.welcome();
    await world.link.ready;
    expect(world.states).toEqual(["connecting", "connected"]);
    expect(world.calls).toEqual(["connected"]);
  });

  it("resumes its session with its pending requests", async () => {
    const world = await World.connected();
    await world.lose();
    expect(world.link.state).toBe("recovering");
    await world.pass(100);
    const resume = { sessionId: "session", secret: "secret", pending: [3, 4] };
    expect(world.server.peer.received).toEqual([{ type: "hello", version: 1, resume }]);
    await world.server.welcome();
    expect(world.states).toEqual(["connecting", "connected", "recovering", "connected"]);
    expect(world.calls).toEqual(["connected", "connected"]);
  });

  it("sends only while it is connected", async () => {
    const world = new World();
    world.link.send({ type: "ping" });
    await world.server.welcome();
    await world.lose();
    world.link.send({ type: "ping" });
    await world.pass(100);
    world.link.send({ type: "ping" });
    await nextTurn();
    expect(world.server.peers.flatMap((peer) => peer.of("ping"))).toEqual([]);
  });

  it("sends waiting requests before it reports the state connected", async () => {
    const world = await World.connected();
    const order: string[] = [];
    world.calls.push = (what: string) => order.push(what);
    world.link.state$.subscribe((state) => order.push(`state ${state}`));
    await world.lose();
    await world.pass(100);
    await world.server.welcome();
    expect(order).toEqual(["state connected", "state recovering", "connected", "state connected"]);
  });

  it("tries to reconnect, with longer and longer pauses, until recoveryMs is over", async () => {
    const world = await World.connected();
    world.server.up = false;
    await world.lose();
    const attempts: number[] = [];
    for (let ms = 0; ms < TIMES.recoveryMs; ms += 10) {
      const before = world.server.attempts;
      await world.pass(10);
      if (world.server.attempts > before) attempts.push(world.clock.now());
    }
    expect(world.link.state).toBe("closed");
    expect(world.clock.now()).toBe(TIMES.recoveryMs);
    expect(world.reason).toMatchObject({ code: "CONNECTION_LOST", data: { reason: "unreachable" } });
    const pauses = attempts.map((at, index) => at - (attempts[index - 1] ?? 0));
    expect(Math.max(...pauses)).toBeLessThanOrEqual(TIMES.backoffLastMs + 10);
    expect(attempts.length).toBeGreaterThan(TIMES.recoveryMs / TIMES.backoffLastMs - 2);
    expect(world.clock.armed).toBe(0);
  });

  it("restarts the time for recovery with each loss", async () => {
    const world = await World.connected();
    for (let round = 0; round < 3; round += 1) {
      world.server.up = false;
      await world.lose();
      for (let ms = 0; ms < TIMES.recoveryMs - 1_000; ms += 100) await world.pass(100);
      world.server.up = true;
      await world.pass(500);
      await world.server.welcome();
      expect(world.link.state).toBe("connected");
    }
  });

  it("gives up a connection that opens and sends no welcome, and tries the next one", async () => {
    const world = await World.connected();
    await world.lose();
    await world.pass(100);
    const silent = world.server.peer;
    await world.pass(TIMES.handshakeMs);
    expect(silent.closing?.code).toBe(1006);
    await world.pass(200);
    expect(world.server.peers.length).toBe(3);
    await world.server.welcome();
    expect(world.link.state).toBe("connected");
  });

  it("fails for good when it is not welcomed on its first attempt", async () => {
    const lost = { code: "CONNECTION_LOST", data: { reason: "unreachable" } };
    const silent = new World();
    await nextTurn();
    await silent.pass(TIMES.handshakeMs);
    expect(await refusal(silent.link.ready)).toEqual(lost);
    expect(silent.states).toEqual(["connecting", "closed"]);
  });

  it.each([
    [4401, "UNAUTHORIZED", "unauthorized"],
    [4406, "VERSION_UNSUPPORTED", "version"],
    [4404, "SESSION_UNKNOWN", "session-unknown"],
    [4409, "CONNECTION_LOST", "superseded"],
    [4400, "PROTOCOL_VIOLATION", "protocol"],
    [1009, "PROTOCOL_VIOLATION", "too-big"],
    [1001, "CONNECTION_LOST", "server-stopped"],
  ])("does not reconnect after close code %i", async (code, refusalCode, reason) => {
    const refused = new World();
    await nextTurn();
    await refused.lose(code);
    expect((await refusal(refused.link.ready)).code).toBe(refusalCode);

    const cut = await World.connected();
    await cut.lose(code);
    await cut.pass(TIMES.recoveryMs);
    expect(cut.reason).toMatchObject({ code: "CONNECTION_LOST", data: { reason } });
    expect(cut.server.attempts).toBe(1);
  });

  it("continues with a new session if the server has ended one that owned nothing", async () => {
    const world = await World.connected();
    world.mayRenew = true;
    await world.lose();
    await world.pass(100);
    expect(world.server.peer.of("hello")).toMatchObject([{ resume: { pending: [3, 4] } }]);
    await world.lose(4404);
    await world.pass(400);
    expect(world.server.peer.of("hello")).toEqual([{ type: "hello", version: 1 }]);
    await world.server.welcome();
    expect(world.states).toEqual(["connecting", "connected", "recovering", "connected"]);
  });

  it.each([1000, 1006, 1011, 1013, 4408])("reconnects after close code %i", async (code) => {
    const world = await World.connected();
    await world.lose(code);
    await world.pass(100);
    await world.server.welcome();
    expect(world.link.state).toBe("connected");
  });

  it("pings a silent server twice, then considers it dead", async () => {
    const world = await World.connected();
    const { peer } = world.server;
    peer.answersPings = false;
    await world.pass(1_000);
    expect(peer.of("ping").length).toBe(1);
    peer.say({ type: "pong" });
    await nextTurn();
    await world.pass(1_000);
    await world.pass(1_000);
    expect([peer.of("ping").length, world.link.state]).toEqual([3, "connected"]);
    await world.pass(1_000);
    expect([peer.of("ping").length, world.link.state]).toEqual([3, "recovering"]);
  });

  it("answers a ping of the server with a pong", async () => {
    const world = await World.connected();
    world.server.peer.say({ type: "ping" });
    await nextTurn();
    expect(world.server.peer.of("pong")).toEqual([{ type: "pong" }]);
    expect(world.messages).toEqual([]);
  });

  it("closes after an invalid message, with a code that reports it to the server", async () => {
    for (const bytes of [Uint8Array.of(), Uint8Array.of(0xc1), Uint8Array.of(0x90), Buffer.from("82a474797065")]) {
      const world = await World.connected();
      world.server.peer.sendBytes(bytes);
      await nextTurn();
      expect(world.reason).toMatchObject({ code: "PROTOCOL_VIOLATION" });
      expect(world.server.peer.closing?.code).toBe(4400);
    }
  });

  it("ignores messages of types that a later version may add", async () => {
    const world = await World.connected();
    world.server.peer.say({ type: "news", of: "tomorrow" } as never);
    await nextTurn();
    expect(world.link.state).toBe("connected");
  });

  it("can be closed by its owner in every state, and leaves no timer armed", async () => {
    const connecting = new World();
    const connected = await World.connected();
    const recovering = await World.connected();
    recovering.server.up = false;
    await recovering.lose();
    for (const world of [connecting, connected, recovering]) {
      world.link.close();
      await nextTurn();
      expect([world.link.state, world.reason?.code, world.clock.armed]).toEqual(["closed", "CLOSED", 0]);
      world.link.close();
      expect(world.calls.filter((what) => what === "closed")).toEqual(["closed"]);
    }
    expect(connected.server.peer.closing?.code).toBe(1000);
  });

  it("ignores messages of an earlier connection", async () => {
    const world = await World.connected();
    const earlier = world.server.peer;
    await world.lose();
    await world.pass(100);
    earlier.say({ type: "reply", id: 1, result: {} });
    await world.server.welcome();
    expect(world.messages).toEqual([]);
  });
});
