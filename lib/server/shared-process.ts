// A process as the server's connections share it: a number that stands for it on the wire, and its events encoded once.
//
// Invariants
// 1. A frame contains nothing that belongs to one viewer.
// 2. An event in the live window is encoded at most once.
// 3. Gaps differ by viewer and are encoded on the spot.
import { encodeEvent, type ProcessEvent, type Seq } from "../../protocol/index.ts";
import type { Process } from "../process/process.ts";

/** Frames kept, in bytes: what viewers who are up to date ask for one after another, in the same turn or a few later. */
const LIVE_BYTES = 256 * 1024;
/** A viewer further behind than this many events is catching up. */
const MAX_BEHIND = 64;

/** One process, shared by its viewers. */
export class SharedProcess {
  readonly channel: number;
  readonly process: Process;
  /** Notified when the process is removed. */
  readonly removalListeners = new Set<{ removed(shared: SharedProcess): void }>();
  /** The session that ends it when it ends itself. */
  owner: { readonly owned: Set<SharedProcess> } | undefined;
  #frames: Map<Seq, Uint8Array> | undefined;
  #frameBytes = 0;
  #viewers = 0;

  constructor(channel: number, process: Process) {
    this.channel = channel;
    this.process = process;
  }

  /** Subscriptions of this process. */
  get viewers(): number {
    return this.#viewers;
  }

  set viewers(count: number) {
    this.#viewers = count;
    if (count < 2) this.#forget();
  }

  /** The frame of an event, the same object for every viewer that asks in time. */
  frameOf(event: ProcessEvent): Uint8Array {
    const known = this.#frames?.get(event.seq);
    if (known) return known;
    const frame = encodeEvent(this.channel, event);
    // Nobody to share it with, or a viewer that catches up and must not evict what the live ones share.
    if (this.#viewers < 2 || event.seq <= this.process.log.headSeq - MAX_BEHIND) return frame;
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
