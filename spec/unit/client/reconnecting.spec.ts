// A connection over any number of sockets, socket by socket: which one it listens to, which it closes, and which timers run.
import { beforeEach, describe, expect, it } from "@jest/globals";
import { type LinkState, ReconnectingConnection } from "../../../lib/client/reconnecting.ts";
import { ExecwireError } from "../../../lib/errors.ts";
import type { Transport, TransportHandlers } from "../../../lib/transport/transport.ts";
import { FakeClock } from "../../support/fake-clock.ts";
import { nextTurn } from "../../support/next-turn.ts";
import { refusal } from "../../support/refusal.ts";

const HANDSHAKE_MS = 100;
const RECOVERY_MS = 5_000;
const BACKOFF_MS = 10;
const PING_MS = 1_000;

/** A socket controlled by the spec; it ends when the spec lets it. */
class FakeTransport implements Transport {
  handlers: TransportHandlers | undefined;
  readonly calls: string[] = [];

  listen(handlers: TransportHandlers): void {
    this.handlers = handlers;
  }

  send(frame: Uint8Array): void {
    this.calls.push(`send ${frame.join()}`);
  }

  close(code: number, reason: string): void {
    this.calls.push(`close ${code} ${reason}`);
  }

  terminate(): void {
    this.calls.push("terminate");
  }
}

class World {
  readonly clock = new FakeClock();
  readonly sockets: FakeTransport[] = [];
  readonly states: LinkState[] = [];
  readonly frames: string[] = [];
  pings = 0;
  reason: ExecwireError | undefined;
  /** The outcome of opening a socket. */
  open = async (): Promise<FakeTransport> => this.socket();
  onFrame = (frame: Uint8Array): unknown => this.frames.push(frame.join());
  fatalCloseError = (_code: number): ExecwireError | undefined => undefined;
  readonly connection = new ReconnectingConnection<FakeTransport>({
    open: () => this.open(),
    clock: this.clock,
    limits: {
      handshakeMs: HANDSHAKE_MS,
      recoveryMs: RECOVERY_MS,
      backoffFirstMs: BACKOFF_MS,
      backoffLastMs: BACKOFF_MS,
    },
    greet: (transport) => transport.send(Uint8Array.of(1)),
    onFrame: (frame) => void this.onFrame(frame),
    ping: () => {
      this.pings += 1;
    },
    fatalCloseError: (code) => this.fatalCloseError(code),
    onConnected: () => undefined,
    onClosed: (reason) => {
      this.reason = reason;
    },
  });

  constructor() {
    this.connection.ready.catch(() => undefined);
    this.connection.state$.subscribe((state) => this.states.push(state));
  }

  socket(): FakeTransport {
    const made = new FakeTransport();
    this.sockets.push(made);
    return made;
  }

  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await nextTurn();
  }

  async connected(): Promise<FakeTransport> {
    this.connection.connect();
    await nextTurn();
    this.connection.onWelcome(PING_MS);
    return this.sockets[0] as FakeTransport;
  }

  /** Loses the last socket and opens the next one. */
  async lose(): Promise<FakeTransport> {
    this.sockets.at(-1)?.handlers?.closed(1006, "");
    await this.pass(BACKOFF_MS);
    return this.sockets.at(-1) as FakeTransport;
  }
}

describe("a connection that reconnects", () => {
  let world: World;
  beforeEach(() => {
    world = new World();
  });

  it("sends hello on each socket, listens only to the last one, and sends only after the welcome", async () => {
    const first = await world.connected();
    world.connection.send(Uint8Array.of(2));
    first.handlers?.frame(Uint8Array.of(3));
    const second = await world.lose();
    world.connection.send(Uint8Array.of(4));
    first.handlers?.frame(Uint8Array.of(5));
    second.handlers?.frame(Uint8Array.of(6));
    world.connection.onWelcome(PING_MS);
    world.connection.send(Uint8Array.of(7));
    first.handlers?.closed(1000, "");
    expect([first.calls, second.calls, world.frames]).toEqual([
      ["send 1", "send 2"],
      ["send 1", "send 7"],
      ["3", "6"],
    ]);
    expect(world.states).toEqual(["connecting", "connected", "recovering", "connected"]);
    expect(world.connection.transport).toBe(second);
  });

  it("is open between the welcome and the loss of its socket", async () => {
    await world.connected();
    expect(world.connection.isOpen).toBe(true);
    await world.lose();
    expect(world.connection.isOpen).toBe(false);
    world.connection.onWelcome(PING_MS);
    world.connection.end(new ExecwireError("CLOSED", "over"));
    expect([world.connection.isOpen, world.connection.transport]).toEqual([false, undefined]);
  });

  it("fails at once if the first attempt finds no server", async () => {
    world.open = () => Promise.reject(new Error("no server"));
    world.connection.connect();
    const lost = { code: "CONNECTION_LOST", data: { reason: "unreachable" } };
    expect(await refusal(world.connection.ready)).toEqual(lost);
    expect(world.reason?.message).toBe("cannot connect: no server");
    expect([world.states, world.clock.armed]).toEqual([["connecting", "closed"], 0]);
  });

  it("closes a socket that opens too late, and tries the next one in time", async () => {
    await world.connected();
    let openLate: (socket: FakeTransport) => void = () => undefined;
    world.open = () => new Promise((resolve) => (openLate = resolve));
    world.sockets[0]?.handlers?.closed(1006, "");
    await world.pass(BACKOFF_MS);
    const late = new FakeTransport();
    world.open = async () => world.socket();
    await world.pass(HANDSHAKE_MS);
    openLate(late);
    await world.pass(BACKOFF_MS);
    expect([late.calls, late.handlers]).toEqual([["terminate"], undefined]);
    expect(world.sockets).toHaveLength(2);
    expect(world.connection.transport).toBe(world.sockets[1]);
  });

  it("closes a socket that opens after the connection was closed, and leaves no timer", async () => {
    let opened: (socket: FakeTransport) => void = () => undefined;
    world.open = () => new Promise((resolve) => (opened = resolve));
    world.connection.connect();
    world.connection.end(new ExecwireError("CLOSED", "over"));
    const late = new FakeTransport();
    opened(late);
    await nextTurn();
    expect([late.calls, late.handlers, world.clock.armed]).toEqual([["terminate"], undefined, 0]);
    expect(world.states).toEqual(["connecting", "closed"]);
    expect(await refusal(world.connection.ready)).toEqual({ code: "CLOSED", data: {} });
  });

  it("terminates a socket without a welcome in time, and one that it is asked to replace", async () => {
    const first = await world.connected();
    world.connection.reopen();
    expect(first.calls).toEqual(["send 1", "terminate"]);
    const second = await world.lose();
    await world.pass(HANDSHAKE_MS - 1);
    expect(second.calls).toEqual(["send 1"]);
    await world.pass(1);
    expect(second.calls).toEqual(["send 1", "terminate"]);
  });

  it("pings a silent socket each interval; frames and pongs of an earlier socket do not count", async () => {
    const first = await world.connected();
    const second = await world.lose();
    world.connection.onWelcome(PING_MS);
    await world.pass(PING_MS);
    await world.pass(PING_MS);
    expect([world.pings, second.calls]).toEqual([2, ["send 1"]]);
    second.handlers?.pong?.(1);
    await world.pass(PING_MS);
    second.handlers?.frame(Uint8Array.of(1));
    await world.pass(PING_MS);
    world.connection.noteAlive();
    await world.pass(PING_MS);
    await world.pass(PING_MS);
    expect(second.calls).toEqual(["send 1"]);
    first.handlers?.pong?.(1);
    first.handlers?.frame(Uint8Array.of(1));
    await world.pass(PING_MS);
    expect(second.calls).toEqual(["send 1", "terminate"]);
  });

  it("keeps the program alive while it reconnects, and not while it is connected", async () => {
    await world.connected();
    expect([world.clock.armed, world.clock.foreground]).toEqual([1, 0]);
    await world.pass(PING_MS);
    expect([world.clock.armed, world.clock.foreground]).toEqual([1, 0]);
    await world.lose();
    expect(world.clock.foreground).toBe(2);
  });

  it("begins to count silent intervals again after a reconnect", async () => {
    await world.connected();
    await world.pass(PING_MS);
    await world.pass(PING_MS);
    const second = await world.lose();
    world.connection.onWelcome(PING_MS);
    await world.pass(PING_MS);
    await world.pass(PING_MS);
    expect(second.calls).toEqual(["send 1"]);
  });

  it("closes with the reason after a frame that cannot be handled", async () => {
    const socket = await world.connected();
    const mistake = new Error("a mistake");
    world.onFrame = () => {
      throw mistake;
    };
    socket.handlers?.frame(Uint8Array.of(1));
    expect(world.reason).toMatchObject({ code: "INTERNAL", cause: mistake });
    expect(world.reason?.message).toBe("a message of the server could not be handled: a mistake");
    expect([socket.calls.at(-1), world.states.at(-1), world.clock.armed]).toEqual(["close 4400 ", "closed", 0]);
  });

  it("gives up at the deadline of its recovery, closes its socket, and is closed once", async () => {
    await world.connected();
    world.open = () => Promise.reject(new Error("no server"));
    await world.lose();
    await world.pass(RECOVERY_MS - 4 * BACKOFF_MS);
    world.open = async () => world.socket();
    // The longest possible pause.
    await world.pass(BACKOFF_MS);
    const second = world.sockets[1] as FakeTransport;
    await world.pass(2 * BACKOFF_MS - 1);
    expect(second.calls).toEqual(["send 1"]);
    await world.pass(1);
    expect(world.reason).toMatchObject({ code: "CONNECTION_LOST", data: { reason: "unreachable" } });
    expect(second.calls).toEqual(["send 1", "terminate"]);
    const { reason } = world;
    second.handlers?.closed(1006, "");
    world.connection.end(new ExecwireError("CLOSED", "again"));
    await world.pass(RECOVERY_MS);
    expect(world.reason).toBe(reason);
    expect([world.sockets.length, world.states.at(-1), world.clock.armed]).toEqual([2, "closed", 0]);
  });

  it("does not reconnect after a fatal close, nor if opening is refused", async () => {
    const final = new ExecwireError("UNAUTHORIZED", "no");
    world.fatalCloseError = () => final;
    const socket = await world.connected();
    socket.handlers?.closed(4401, "");
    expect([world.reason, world.clock.armed]).toEqual([final, 0]);
    const refused = new World();
    await refused.connected();
    refused.open = () => Promise.reject(new ExecwireError("UNAUTHORIZED", "no more"));
    refused.sockets[0]?.handlers?.closed(1006, "");
    await refused.pass(BACKOFF_MS);
    expect([refused.states.at(-1), refused.clock.armed]).toEqual(["closed", 0]);
    expect(refused.reason).toMatchObject({ code: "CONNECTION_LOST", data: { reason: "refused" } });
    const never = new World();
    never.open = () => Promise.reject(final);
    let isComplete = false;
    never.connection.state$.subscribe({ complete: () => (isComplete = true) });
    never.connection.connect();
    await nextTurn();
    expect([never.reason, isComplete]).toEqual([final, true]);
  });
});
