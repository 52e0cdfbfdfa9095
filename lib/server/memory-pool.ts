// The memory that the connections of one kind may use together, for what waits to be sent and for running requests, and which
// of them end when it is short: those that take nothing of what waits for them, and those that have more than their share.
import type { Cancel, Clock } from "../clock.ts";

/** How often connections are looked at, at most. */
const CHECK_MS = 500;

/** A connection as its pool sees it. */
export interface PoolMember {
  /** What waits here to be taken by the peer; only whether it changes is of interest. Undefined when nothing waits. */
  readonly progress: string | undefined;
  /** What it has added and not given back. */
  readonly bytes: number;
  /** There is memory again. */
  onMemory(): void;
  /** The peer has read nothing for too long. */
  onStalled(): void;
}

/** Bounds of a pool. */
export interface PoolOptions {
  readonly clock: Clock;
  /** All connections together. */
  readonly bytes: number;
  /** One that takes nothing for so long is dropped. */
  readonly stallMs: number;
  /** When the memory of the pool was used up for so long, whatever holds more than its share is dropped. */
  readonly crowdedMs: number;
}

/** Counts the bytes of many connections. */
export class MemoryPool {
  readonly #options: PoolOptions;
  /** With the progress at the last look, and since when it is the same. */
  readonly #members = new Map<PoolMember, { progress: string | undefined; since: number }>();
  #bytes = 0;
  /** Since when the memory is used up. */
  #exhaustedSince: number | undefined;
  #timer: Cancel | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** What one connection may hold before it has to wait: half of all memory divides among them, for frames come whole. */
  get share(): number {
    return this.#options.bytes / 2 / Math.max(1, this.#members.size);
  }

  /** Whether nothing more should be made for any of them. */
  get isExhausted(): boolean {
    return this.#exhaustedSince !== undefined;
  }

  /** Whether half of it is left: then a member may also have more than its share. */
  get isPlenty(): boolean {
    return this.#bytes < this.#options.bytes / 2;
  }

  join(member: PoolMember): void {
    this.#members.set(member, { progress: undefined, since: 0 });
    this.add(member.bytes);
  }

  leave(member: PoolMember): void {
    if (this.#members.delete(member)) this.add(-member.bytes);
  }

  add(bytes: number): void {
    this.#bytes += bytes;
    if (bytes > 0) this.#timer ??= this.#arm();
    if (this.#bytes >= this.#options.bytes) this.#exhaustedSince ??= this.#options.clock.now();
    // Only at three quarters: else each frame that leaves would wake all.
    if (!this.isExhausted || this.#bytes > this.#options.bytes * 0.75) return;
    this.#exhaustedSince = undefined;
    for (const member of [...this.#members.keys()]) member.onMemory();
  }

  #arm(): Cancel {
    const { clock, stallMs, crowdedMs } = this.#options;
    return clock.after(Math.min(CHECK_MS, stallMs / 4, crowdedMs / 2), () => this.#check(), { background: true });
  }

  #check(): void {
    const { clock, stallMs, crowdedMs } = this.#options;
    const now = clock.now();
    const isCrowded = this.#exhaustedSince !== undefined && now - this.#exhaustedSince >= crowdedMs;
    const { share } = this;
    this.#timer = this.#bytes > 0 ? this.#arm() : undefined;
    for (const [member, seen] of [...this.#members]) {
      const { progress } = member;
      if (isCrowded && member.bytes > share) member.onStalled();
      else if (progress === undefined || progress !== seen.progress) {
        seen.progress = progress;
        seen.since = now;
      } else if (now - seen.since >= stallMs) member.onStalled();
    }
  }
}
