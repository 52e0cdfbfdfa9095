// What the rows of the table of limits work with: a supervisor of fake children, and a server of it in memory, both with the
// overrides of the row.
import { connectOver } from "../../lib/client/connect.ts";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { type ExecwireServer, serve } from "../../lib/server/server.ts";
import { memoryPair } from "../../lib/transport/memory-pair.ts";
import type { Transport } from "../../lib/transport/transport.ts";
import type { Limits } from "../../protocol/index.ts";
import { TellingClock } from "../support/fake-clock.ts";
import { FakeHost } from "../support/fake-supervisor.ts";
import { nextTurn } from "../support/next-turn.ts";
import { WirePeer } from "../support/wire-peer.ts";

/** What is seen with a small override of the limit, and how. */
export type Row = readonly [seen: string, look: () => Promise<void>];

/** The token of a client that may act, and of one that may look. */
export const TOKENS = { control: "control", view: "view" } as const;

/** What a peer may do. */
export type Role = keyof typeof TOKENS;

const undo: (() => unknown)[] = [];

/** Called when the row is over, the last first. */
export function later(step: () => unknown): void {
  undo.push(step);
}

/** Ends everything that the row has begun. */
export async function cleanUp(): Promise<void> {
  for (const step of undo.splice(0).reverse()) await step();
}

/** A supervisor of fake children. */
export function fakeHost(limits: Partial<Limits>): FakeHost {
  const host = new FakeHost({ limits });
  later(() => host.close());
  return host;
}

/** A server of fake children and the ways into it. */
export class FakeServer {
  /** Time of the clients. */
  readonly clientClock = new TellingClock();
  /** The client's end of the newest connection. */
  lastClient: Transport | undefined;
  readonly host: FakeHost;
  readonly server: ExecwireServer;

  private constructor(host: FakeHost, server: ExecwireServer) {
    this.host = host;
    this.server = server;
  }

  /** Opens one. Time stands still, so nothing else than what the row does has an effect. */
  static async open(limits: Partial<Limits>): Promise<FakeServer> {
    const host = new FakeHost({ limits });
    const auth = { kind: "token", token: TOKENS.control, viewToken: TOKENS.view } as const;
    const server = await serve(host.supervisor, { auth, limits, clock: host.clock });
    later(async () => {
      // The server ends what its sessions started; fake children end only as time passes.
      const closed = server.close();
      await nextTurn();
      await host.close();
      await closed;
    });
    return new FakeServer(host, server);
  }

  /** A peer that has not said hello. With `wrap`, the server's end of the connection is what that makes of it. */
  connect(wrap: (near: Transport) => Transport = (near) => near): WirePeer {
    const [near, far] = memoryPair();
    this.server.accept(wrap(near));
    return new WirePeer(far);
  }

  /** A peer that was welcomed. */
  async greeted(role: Role = "control", wrap?: (near: Transport) => Transport): Promise<WirePeer> {
    const peer = this.connect(wrap);
    peer.hello(TOKENS[role]);
    await peer.next("welcome");
    return peer;
  }

  /** A client with limits of its own. Once `isRefused` it cannot come back. */
  client(limits: Partial<Limits>, isRefused: () => boolean = () => false): Promise<RemoteBackend> {
    const open = async () => {
      if (isRefused()) throw new Error("there is no server");
      const [near, far] = memoryPair();
      this.server.accept(near);
      this.lastClient = far;
      return far;
    };
    return connectOver(open, { token: TOKENS.control, limits, clock: this.clientClock });
  }
}

/** The code with which the server closes a connection. */
export async function closeCode(peer: WirePeer): Promise<number> {
  return (await peer.closed).code;
}

/** The end of a connection whose peer does not read: what is sent never leaves. */
export class UnreadEnd {
  /** Whether the server has stopped reading from the peer. */
  isPaused = false;

  readonly wrap = (near: Transport): Transport => ({
    listen: (handlers) => near.listen(handlers),
    // The frame arrives, so that the row sees it; the server never learns that it has left.
    send: (frame) => near.send(frame),
    close: (code, reason) => near.close(code, reason),
    terminate: () => near.terminate(),
    pause: () => {
      this.isPaused = true;
    },
    resume: () => {
      this.isPaused = false;
    },
    unsentBytes: () => 1,
  });
}
