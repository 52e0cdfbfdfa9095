// How far a connection runs ahead of its peer: as far as the link carries in a fraction of a second. What was sent ahead must
// arrive before the answer to a Ctrl-C does, and on a slow link megabytes of it, in the buffers of every hop, take a minute.
//
// Probes (pings) are sent between the data; the answer to one shows that everything before it has arrived. The rate at which data
// arrives, times the time that may be spent waiting, is the window.
import type { Cancel, Clock } from "../../clock.ts";

/** What is sent ahead may delay the next byte by this much, beyond the time that the link itself takes. */
const AHEAD_MS = 200;
/** A slower link gets this much all the same: a few chunks. */
const MIN_BYTES = 16 * 1024;
/** Before the first answer. */
const FIRST_BYTES = 64 * 1024;
/** More is never worth it: other limits are lower. */
const MAX_BYTES = 16 * 1024 * 1024;
/** Unanswered probes, at most, and about as many in a window: enough that sending goes on while the answers are on their way. */
const PROBES = 8;
/** Most bytes between two probes: few enough to notice a change, and rarely enough to cost nothing. */
const PROBE_BYTES = 256 * 1024;
/** A probe with no more than this in front of it measures the link and not the data. */
const SOLO_BYTES = 2048;
/** A peer that has not answered its first probe by then answers none, against the protocol; it is sent everything at once. */
const SILENT_MS = 5_000;

/** A probe that is not answered. */
interface Probe {
  readonly id: number;
  /** Bytes sent before it. */
  readonly sent: number;
  /** Bytes of these that were not known to have arrived. */
  readonly ahead: number;
  readonly at: number;
}

/** How to probe. */
export interface PaceOptions {
  readonly clock: Clock;
  /** Sends a probe and returns its id, higher than that of the one before. The answer must lead to a call of `answered`. */
  readonly ping: () => number;
  /** Whether answers have no id: then one probe is sent at a time. */
  readonly isAnonymous?: boolean;
  /** The peer answers no probes: there is room again. */
  readonly onRoom: () => void;
}

/** Measures one connection. */
export class Pace {
  readonly #options: PaceOptions;
  #window = FIRST_BYTES;
  #sent = 0;
  #arrived = 0;
  #probes: Probe[] = [];
  /** `#sent` at the last probe. */
  #probedAt = 0;
  /** Whether sending waited for the window since the last answer. */
  #wasFull = false;
  /** Time that the link needs without data in front; unknown before the first answer. */
  #linkMs: number | undefined;
  #silence: Cancel | undefined;

  constructor(options: PaceOptions) {
    this.#options = options;
  }

  /** Whether more may be sent ahead. */
  get hasRoom(): boolean {
    if (this.#sent - this.#arrived < this.#window) return true;
    this.#wasFull = true;
    return false;
  }

  /** Bytes were sent. */
  sent(bytes: number): void {
    this.#sent += bytes;
    if (this.#sent - this.#probedAt >= Math.min(this.#window / PROBES, PROBE_BYTES)) this.#probe();
  }

  #probe(): void {
    const { clock, ping, isAnonymous } = this.#options;
    if (this.#probes.length >= (isAnonymous ? 1 : PROBES)) return;
    this.#probedAt = this.#sent;
    if (this.#linkMs === undefined) this.#silence ??= clock.after(SILENT_MS, this.#giveUp, { background: true });
    this.#probes.push({ sent: this.#sent, ahead: this.#sent - this.#arrived, at: clock.now(), id: ping() });
  }

  /** The peer has answered a probe, the oldest if answers have no id, and thereby all earlier ones. */
  answered(id = this.#probes[0]?.id): void {
    let probe: Probe | undefined;
    while (id !== undefined && (this.#probes[0]?.id ?? Number.POSITIVE_INFINITY) <= id) probe = this.#probes.shift();
    if (!probe) return;
    this.#silence?.();
    // A clock that counts milliseconds measures 0 on a fast link.
    const waitedMs = Math.max(1, this.#options.clock.now() - probe.at);
    this.#linkMs = probe.ahead <= SOLO_BYTES ? waitedMs : Math.min(this.#linkMs ?? waitedMs, waitedMs);
    const fits = (probe.ahead / waitedMs) * (this.#linkMs + AHEAD_MS);
    const isSlow = waitedMs > this.#linkMs + 2 * AHEAD_MS;
    // A sender that was not held back has not filled the link, which carries at least this much.
    const window = this.#wasFull || isSlow ? fits : Math.max(fits, this.#window);
    this.#window = Math.min(Math.max(window, MIN_BYTES), MAX_BYTES);
    this.#arrived = probe.sent;
    this.#wasFull = false;
    if (this.#probes.length === 0) this.sent(0);
  }

  /** The connection has ended. */
  end(): void {
    this.#silence?.();
  }

  readonly #giveUp = () => {
    this.#window = Number.POSITIVE_INFINITY;
    this.#options.onRoom();
  };
}
