// A scripted server: the spec decides what each connection receives.
import { memoryPair } from "../../lib/transport/memory-pair.ts";
import type { OpenTransport, Transport } from "../../lib/transport/transport.ts";
import { nextTurn } from "./next-turn.ts";
import { WirePeer } from "./wire-peer.ts";

/** Opens connections, each with a peer at its other end. */
export class ScriptedServer {
  /** The server's end of every connection so far. */
  readonly peers: WirePeer[] = [];
  /** Attempts to connect, including failed ones. */
  attempts = 0;
  /** While false, connecting fails. */
  up = true;

  readonly open: OpenTransport = async (): Promise<Transport> => {
    this.attempts += 1;
    if (!this.up) throw new Error("nobody is there");
    const [near, far] = memoryPair();
    this.peers.push(new WirePeer(far));
    return near;
  };

  /** The peer of the last connection. */
  get peer(): WirePeer {
    const last = this.peers.at(-1);
    if (!last) throw new Error("nobody has connected");
    return last;
  }

  /** Sends welcome on the last connection. */
  async welcome(facts: object = {}): Promise<void> {
    await nextTurn();
    const limits = { sessionTtlMs: 80_000, pingMs: 1_000, frameBytes: 1_000_000, windowBytes: 524_288 };
    this.peer.say({
      type: "welcome",
      version: 1,
      sessionId: "session",
      secret: "secret",
      resumed: this.peers.length > 1,
      limits,
      ...facts,
    });
    await nextTurn();
  }
}
