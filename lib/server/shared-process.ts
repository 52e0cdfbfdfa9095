// A process that is shared by the server's connections: its channel number on the wire, and each event encoded once.
//
// Invariants
// 1. A frame contains nothing that is specific to one viewer.
// 2. An event in the live window is encoded at most once.
// 3. Gaps differ by viewer and are encoded for each of them.
import { encodeEvent, type ProcessEvent, type Seq } from "../../protocol/index.ts";
import type { LogView } from "../log/log-view.ts";
import type { Process } from "../process/process.ts";

/** Bytes of cached frames. Viewers that are up to date ask for the same events within a few turns of the event loop. */
const LIVE_BYTES = 256 * 1024;
/** A viewer that is further behind than this many events is catching up. */
const MAX_BEHIND = 64;

/** One process, shared by its viewers. */
export class SharedProcess {
  /** The number that stands for the process on the wire. */
  readonly channel: number;
  readonly process: Process;
  /** Read here for the clients, each of which holds what it needs. */
  readonly log: LogView;
  /** Notified when the process is removed. */
  readonly removalListeners = new Set<{ removed(shared: SharedProcess): void }>();
  /** The session that ends the process when it ends. */
  owner: { readonly owned: Set<SharedProcess> } | undefined;
  #frames: Map<Seq, Uint8Array> | undefined;
  #frameBytes = 0;
  #viewers = 0;

  constructor(channel: number, process: Process) {
    this.channel = channel;
    this.process = process;
    this.log = process.log;
  }

  /** The number of subscriptions to this process. */
  get viewers(): number {
    return this.#viewers;
  }

  set viewers(count: number) {
    this.#viewers = count;
    if (count < 2) this.#forget();
  }

  /** The frame of an event; viewers that ask while it is cached get the same object. */
  frameOf(event: ProcessEvent): Uint8Array {
    const known = this.#frames?.get(event.seq);
    if (known) return known;
    const frame = encodeEvent(this.channel, event);
    // Not cached for a single viewer. A viewer that is catching up must not evict the frames that live viewers share.
    if (this.#viewers < 2 || event.seq <= this.log.headSeq - MAX_BEHIND) return frame;
    if (this.#frameBytes + frame.length > LIVE_BYTES) this.#forget();
    this.#frames ??= new Map();
    this.#frames.set(event.seq, frame);
    this.#frameBytes += frame.length;
    return frame;
  }

  #forget(): void {
    this.#frames = undefined;
    this.#frameBytes = 0;
  }
}
