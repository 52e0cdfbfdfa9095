// The memory that all connections of one kind may use together, for unsent frames and running requests. When memory is short,
// it ends the connections whose peers read none of the frames that wait for them, and those that use more than their share.
import type { Cancel, Clock } from "../../clock.ts";

/** The longest interval between checks of the connections. */
const CHECK_MS = 500;

/** A connection, as its pool uses it. */
export interface PoolMember {
  /** A value that changes whenever the peer reads something; undefined while nothing waits to be read. */
  readonly progress: string | undefined;
  /** Bytes that this connection is charged. */
  readonly bytes: number;
  /** Called when the pool has memory again. */
  onMemory(): void;
  /** Called when the peer has read nothing for too long, or uses more than its share of a crowded pool. */
  onStalled(): void;
}

/** Limits of a pool. */
export interface PoolOptions {
  readonly clock: Clock;
  /** Limit for all connections together. */
  readonly bytes: number;
  /** A connection whose peer reads nothing for this long is dropped. */
  readonly stallMs: number;
  /** After the pool was exhausted for this long, connections that use more than their share are dropped. */
  readonly crowdedMs: number;
}

/** Counts the bytes of many connections. */
export class MemoryPool {
  readonly #options: PoolOptions;
  /** Members with their progress at the last check, and the time since which it is unchanged. */
  readonly #members = new Map<PoolMember, { progress: string | undefined; since: number }>();
  #bytes = 0;
  /** The time since which the memory is used up. */
  #exhaustedSince: number | undefined;
  #timer: Cancel | undefined;

  constructor(options: PoolOptions) {
    this.#options = options;
  }

  /** Bytes that a connection may use before it must wait. Only half of the memory is divided, as frames cannot be split. */
  get share(): number {
    return this.#options.bytes / 2 / Math.max(1, this.#members.size);
  }

  /** Whether no connection should produce more. */
  get isExhausted(): boolean {
    return this.#exhaustedSince !== undefined;
  }

  /** Whether half of the memory is free: then a member may use more than its share. */
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
    // Only below three quarters; otherwise each frame sent would wake all members.
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
