// The truth about one process: a bounded log of numbered events that any number of readers follow, each with a number of
// its own. What a reader gets wrong: there are no queues here; a slow reader costs nothing and is told a gap.
//
// Invariants
// 1. Seqs are 1, 2, 3 ... without holes.
// 2. Nothing follows `closed`; `exited` comes at most once and before it; output may come between.
// 3. Retained output stays within its bounds in bytes and events, the oldest goes first; a chunk above `chunkBytes` is
//    split before it gets a seq, so nothing evicts itself. Only what a live hold has not read may exceed the bounds, by
//    what was in flight when the writer was told to pause, or, for a hold that never pauses it, by as much as that asked for.
// 4. `exited` and `closed` are never evicted.
// 5. An appended event is frozen and keeps its identity while retained.
// 6. Reading changes nothing visible.
// 7. `next(afterSeq)` is total: event, exact gap, or undefined.
import type { Delivery, ExitedEvent, ProcessEvent, Seq, StreamName, TerminalSize } from "../../protocol/index.ts";
import { limits } from "../../protocol/index.ts";
import type { ExecwireError } from "../errors.ts";
import { EventRing } from "./event-ring.ts";
import { HoldSet, type Wish } from "./hold-set.ts";
import type { LogCounts } from "./log-counts.ts";
import type { Hold, LogView } from "./log-view.ts";
import { MemoryBudget } from "./memory-budget.ts";

/** Bounds of a log, and what it shares with others. */
export interface ReplayLogOptions {
  readonly retainedBytes?: number;
  readonly retainedEvents?: number;
  readonly chunkBytes?: number;
  readonly eventOverheadBytes?: number;
  /** Shared with other logs. */
  readonly budget?: MemoryBudget;
  /** Counted in, with other logs. */
  readonly counts?: LogCounts;
}

/** Who wants to know what becomes of the readers of a log. */
export interface ReplayLogOwner {
  /** Told true when held readers fill the log (pause the writer now), false when there is room again. */
  readonly onPressure?: (full: boolean) => void;
  /** Told when somebody begins to follow a log that nobody followed. */
  readonly onFollowed?: () => void;
}

/** An append-only log of one incarnation, bounded, with one read primitive. */
export class ReplayLog implements LogView {
  readonly #ring = new EventRing();
  readonly #wakes = new Set<() => void>();
  readonly #holds: HoldSet;
  readonly #budget: MemoryBudget;
  readonly #counts: LogCounts | undefined;
  readonly #onFollowed: (() => void) | undefined;
  readonly #maxBytes: number;
  readonly #maxEvents: number;
  readonly #chunkBytes: number;
  readonly #overhead: number;
  readonly #printed: Record<StreamName, number> = { stdout: 0, stderr: 0, pty: 0 };
  #total = 0;
  #evicted = 0;
  /** Bytes added while the shared budget was exceeded, and not given back yet. */
  #owed = 0;
  #exited: ExitedEvent | undefined;
  /** Output bytes before `exited`, kept since its slot in the ring may go. */
  #exitedOffset = 0;
  #closed = false;
  #failure: ExecwireError | undefined;

  constructor(options: ReplayLogOptions = {}, { onPressure, onFollowed }: ReplayLogOwner = {}) {
    this.#maxBytes = options.retainedBytes ?? limits.retainedBytes;
    this.#maxEvents = options.retainedEvents ?? limits.retainedEvents;
    this.#chunkBytes = Math.max(1, Math.min(options.chunkBytes ?? limits.chunkBytes, this.#maxBytes));
    this.#overhead = options.eventOverheadBytes ?? limits.eventOverheadBytes;
    this.#budget = options.budget ?? new MemoryBudget(Number.POSITIVE_INFINITY);
    this.#counts = options.counts;
    this.#onFollowed = onFollowed;
    const onMove = () => {
      this.#evict(0);
      this.#holds.check();
    };
    this.#holds = new HoldSet((floor) => this.#unreadIsTooMuch(floor), onPressure, onMove);
  }

  get firstSeq(): Seq {
    return this.#ring.first;
  }

  get headSeq(): Seq {
    return this.#ring.head;
  }

  get exited(): ExitedEvent | undefined {
    return this.#exited;
  }

  get closed(): boolean {
    return this.#closed;
  }

  get failure(): ExecwireError | undefined {
    return this.#failure;
  }

  /** Output bytes retained now. */
  get retainedBytes(): number {
    return this.#total - this.#evicted;
  }

  /** What this log is charged for in the memory budget: payload and overhead. */
  get cost(): number {
    return this.retainedBytes + this.#ring.length * this.#overhead;
  }

  /** Whether somebody is woken by an append. */
  get isFollowed(): boolean {
    return this.#wakes.size > 0;
  }

  /** Appends output. The log owns `chunk` from here on. An empty chunk is no event. */
  appendOutput(stream: StreamName, chunk: Uint8Array): void {
    if (this.#closed) return;
    if (this.#counts) this.#counts.bytes[stream] += chunk.length;
    for (let start = 0; start < chunk.length; start += this.#chunkBytes) {
      const whole = chunk.length <= this.#chunkBytes;
      const part = whole ? chunk : chunk.subarray(start, start + this.#chunkBytes);
      this.#printed[stream] += part.length;
      this.#total += part.length;
      this.#push({ type: "output", seq: this.#ring.head + 1, stream, chunk: part }, part.length);
    }
  }

  /** Appends the new size of the terminal. */
  appendResized(size: TerminalSize): void {
    if (!this.#closed) this.#push({ type: "resized", seq: this.#ring.head + 1, size }, 0);
  }

  /** Appends the exit, once. */
  appendExited(exit: Omit<ExitedEvent, "type" | "seq">): void {
    if (this.#closed || this.#exited) return;
    this.#exitedOffset = this.#total;
    this.#exited = { type: "exited", seq: this.#ring.head + 1, ...exit };
    this.#push(this.#exited, 0);
  }

  /** Appends the end; nothing follows it. */
  appendClosed(): void {
    if (this.#closed) return;
    this.#closed = true;
    this.#push({ type: "closed", seq: this.#ring.head + 1, bytes: Object.freeze({ ...this.#printed }) }, 0);
  }

  /** Ends the log without `closed`: the process never came to be, or nobody can know more. */
  fail(error: ExecwireError): void {
    if (this.#closed || this.#failure) return;
    this.#failure = error;
    this.#wake();
  }

  next(afterSeq: Seq): Delivery | undefined {
    const seq = afterSeq + 1;
    const { first, head } = this.#ring;
    if (seq > head) return undefined;
    if (seq >= first) return this.#ring.get(seq);
    const exitSeq = this.#exited?.seq ?? 0;
    if (exitSeq === seq) return this.#exited;
    // Invariant 4: an exit inside the lost range is delivered, so the gap ends before it.
    const lastSeq = exitSeq > seq && exitSeq < first ? exitSeq - 1 : first - 1;
    return Object.freeze({ type: "gap", firstSeq: seq, lastSeq });
  }

  offsetAfter(seq: Seq): number | undefined {
    if (seq === 0) return 0;
    if (seq === this.#ring.first - 1) return this.#evicted;
    if (this.#exited && (seq === this.#exited.seq || seq === this.#exited.seq - 1)) return this.#exitedOffset;
    return this.#ring.offset(seq);
  }

  onAppend(wake: () => void): () => void {
    // Wrapped, so that the same function registered twice is two registrations.
    const entry = () => wake();
    // Before the reader is registered: what was held back for nobody is simply there when it looks.
    if (this.#wakes.size === 0) this.#onFollowed?.();
    this.#wakes.add(entry);
    return () => this.#wakes.delete(entry);
  }

  hold(position: () => Seq, upToBytes?: number): Hold {
    return upToBytes === undefined ? this.#holds.add(position) : this.#holds.addWish(position, upToBytes);
  }

  noteGap(): void {
    if (this.#counts) this.#counts.gaps += 1;
  }

  /** Begins to measure whether the holders are alive; see `HoldSet`. */
  beginLease(): void {
    this.#holds.beginLease();
  }

  /** Releases the holds that gave no sign of life since the lease began; their readers will meet a gap. */
  endLease(): void {
    this.#holds.endLease();
  }

  /** Lets go of all output that no hold wants; the end stays. For a closed log that costs more than it is worth. */
  trim(): void {
    const floor = Math.min(this.#holds.floor(), this.#holds.wish().floor);
    while (this.#ring.first < this.#ring.head && this.#ring.first <= floor) this.#shift();
  }

  /** Gives the memory back to the budget when the log is forgotten. Those who still hold it may go on reading. */
  forget(): void {
    this.#budget.add(-this.cost);
  }

  #push(event: ProcessEvent, bytes: number): void {
    this.#ring.push(Object.freeze(event), this.#total);
    this.#budget.add(bytes + this.#overhead);
    this.#evict(bytes + this.#overhead);
    this.#holds.check();
    this.#wake();
  }

  /** Invariant 3. Over the shared budget, a log gives back what it adds; what a hold has not read, when that moves on. */
  #evict(added: number): void {
    this.#owed = this.#budget.over ? Math.max(0, this.#owed) + added : 0;
    if (!this.#isOver() && this.#owed === 0) return;
    const floor = this.#holds.floor();
    const wish = this.#holds.wish();
    while (this.#isOver() || (this.#budget.over && this.#owed > 0)) {
      // The newest event stays, however small the bounds.
      if (this.#ring.first === this.#ring.head || this.#ring.first > floor) return;
      if (this.#ring.first > wish.floor && this.#grants(wish)) return;
      this.#owed -= this.#shift();
    }
  }

  /** Drops the oldest event; returns what that gives back. */
  #shift(): number {
    const event = this.#ring.shift();
    const bytes = event.type === "output" ? event.chunk.length : 0;
    this.#evicted += bytes;
    this.#budget.add(-bytes - this.#overhead);
    return bytes + this.#overhead;
  }

  /** A wish is for bytes only, and for no more than there is memory. */
  #grants({ bytes }: Wish): boolean {
    return this.retainedBytes <= bytes && this.#ring.length <= this.#maxEvents && !this.#budget.over;
  }

  #isOver(): boolean {
    return this.retainedBytes > this.#maxBytes || this.#ring.length > this.#maxEvents;
  }

  /** Whether what follows `floor` leaves no room for what may still be in flight: a read of each stream, twice over. */
  #unreadIsTooMuch(floor: Seq): boolean {
    const reserve = Math.min(4 * this.#chunkBytes, this.#maxBytes / 2);
    const unread = this.#total - (this.offsetAfter(floor) ?? this.#evicted);
    if (unread > this.#maxBytes - reserve || this.#ring.head - floor > this.#maxEvents * 0.9) return true;
    return this.#budget.over && unread > reserve;
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
  }
}
