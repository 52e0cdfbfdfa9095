// A process as the server's connections share it: a number that stands for it on the wire, and its events encoded once.
//
// Invariants
// 1. A frame contains nothing that belongs to one viewer.
// 2. An event in the live window is encoded at most once.
// 3. Gaps differ by viewer and are encoded on the spot.
import { encodeEvent, type ProcessEvent } from "../../protocol/index.ts";
import type { Process } from "../process/process.ts";

/** Frames kept: what viewers who are up to date ask for one after another, in the same turn or a few later. */
const LIVE_FRAMES = 64;

/** One process, shared by its viewers. */
export class Channel {
  readonly id: number;
  readonly process: Process;
  /** The session that ends it when it ends itself. */
  owner: { readonly owned: Set<Channel> } | undefined;
  /** Slot `seq % LIVE_FRAMES`. */
  readonly #frames: { readonly seq: number; readonly frame: Uint8Array }[] = [];

  constructor(id: number, process: Process) {
    this.id = id;
    this.process = process;
  }

  /** The frame of an event, the same object for every viewer that asks in time. */
  frameOf(event: ProcessEvent): Uint8Array {
    const slot = event.seq % LIVE_FRAMES;
    const known = this.#frames[slot];
    if (known?.seq === event.seq) return known.frame;
    const frame = encodeEvent(this.id, event);
    // A viewer that catches up must not displace what the live ones share.
    if (event.seq > (known?.seq ?? 0)) this.#frames[slot] = { seq: event.seq, frame };
    return frame;
  }
}
