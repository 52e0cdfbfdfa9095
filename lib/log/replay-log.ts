// The record of one process: a bounded log of numbered events that any number of readers follow, each with its own position.
// Easy to get wrong: there are no queues here. A slow reader costs nothing, and gets a gap for what it was too slow to read.
//
// There are two ways to write. The actor of a process calls `append...`, which numbers the events. `accept` adds events and gaps
// that another program has numbered.
//
// Invariants
// 1. Seqs are 1, 2, 3 ... without holes: a delivery follows the seq before it, as an event or as a gap.
// 2. Nothing follows `closed`; `exited` comes at most once and before it; output may come between.
// 3. Retained output stays within its bounds (`retained-events.ts`); the oldest is evicted first. A chunk above `chunkBytes` is
//    split before it gets a seq, so nothing evicts itself. Only events that a live hold has not read may exceed the bounds:
//    by what was in flight when the writer was asked to pause or, for a hold that never pauses it, by as much as it asked for.
// 4. `exited` and `closed` are never evicted.
// 5. An event is frozen and keeps its identity while retained.
// 6. Reading changes nothing visible, except that a reader that misses the beginning may cause it to be sent again.
// 7. `next(afterSeq)` is total: the event, an exact gap, `loading` after a `restart`, or undefined.
import type {
  Delivery,
  ExitedEvent,
  GapNotice,
  ProcessEvent,
  Seq,
  StreamName,
  TerminalSize,
} from "../../protocol/index.ts";
import type { ExecwireError } from "../errors.ts";
import { compact, isSameExit, mayFollow } from "./accepted.ts";
import { type DeliveryRing, firstSeqOf, gap, lastSeqOf } from "./delivery-ring.ts";
import { HoldSet } from "./hold-set.ts";
import type { Hold, LogView } from "./log-view.ts";
import { RetainedEvents, type RetentionBounds } from "./retained-events.ts";

/** Totals of all logs that share it, as plain numbers: counting costs one addition, and telemetry reads them when it needs them. */
export interface LogCounts {
  /** Output bytes printed, evicted or not. */
  readonly bytes: Record<StreamName, number>;
  /** Gaps delivered to readers: each reader and each loss counts. */
  gaps: number;
}

/** Bounds of a log, and what it shares with other logs. */
export interface ReplayLogOptions extends RetentionBounds {
  readonly counts?: LogCounts;
}

/** What a log reports to its writer. */
export interface LogWriter {
  /** True when what readers with a hold have not read fills the log (pause now), false when there is room again. */
  readonly onPressure?: (full: boolean) => void;
  /** The first reader is about to register. */
  readonly onFollowed?: () => void;
  /** A reader has left, or a hold was added, renewed or released. */
  readonly onReaders?: () => void;
  /** A reader finds the beginning evicted. Returns true after a `restart`, if all events will be sent again. */
  readonly onMissed?: () => boolean;
}

/** The log of one incarnation of a process. */
export class ReplayLog implements LogView {
  /** The holds of its readers, for the writer. */
  readonly holds: HoldSet;
  readonly #wakes = new Set<() => void>();
  readonly #writer: LogWriter;
  readonly #counts: LogCounts | undefined;
  readonly #retained: RetainedEvents;
  readonly #ring: DeliveryRing;
  #printed = { stdout: 0, stderr: 0, pty: 0 };
  /** Since a `restart`, no reader has seen the beginning yet. */
  #isRestarted = false;
  #exited: ExitedEvent | undefined;
  /** Output bytes before `exited`, once that was pushed; kept here since the ring may evict its slot. */
  #exitedOffset: number | undefined;
  #closed = false;
  #failure: ExecwireError | undefined;

  constructor(options: ReplayLogOptions = {}, writer: LogWriter = {}) {
    this.#counts = options.counts;
    this.#writer = writer;
    this.#retained = new RetainedEvents(options, (seq, bytes) => this.holds.keeps(seq, bytes));
    this.#ring = this.#retained.ring;
    const onMove = () => {
      this.#retained.evict(0);
      this.holds.check();
      writer.onReaders?.();
    };
    this.holds = new HoldSet((floor) => this.#isFullAfter(floor), writer.onPressure, onMove);
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
    return this.#ring.bytes;
  }

  /** Output bytes printed, retained or not. */
  get printed(): Readonly<Record<StreamName, number>> {
    return this.#printed;
  }

  /** Bytes charged to the memory budget: payload and overhead. */
  get cost(): number {
    return this.#retained.cost;
  }

  /** Whether a reader waits for appends. */
  get isFollowed(): boolean {
    return this.#wakes.size > 0;
  }

  /** Appends output. The log owns `chunk` from here on. An empty chunk is no event. */
  appendOutput(stream: StreamName, chunk: Uint8Array): void {
    if (this.#closed) return;
    if (this.#counts) this.#counts.bytes[stream] += chunk.length;
    const { chunkBytes } = this.#retained;
    for (let start = 0; start < chunk.length; start += chunkBytes) {
      const part = chunk.length <= chunkBytes ? chunk : chunk.subarray(start, start + chunkBytes);
      this.#push({ type: "output", seq: this.#ring.head + 1, stream, chunk: part });
    }
  }

  /** Appends the new size of the terminal. */
  appendResized(size: TerminalSize): void {
    if (!this.#closed) this.#push({ type: "resized", seq: this.#ring.head + 1, size });
  }

  /** Appends the exit, once. */
  appendExited(exit: Omit<ExitedEvent, "type" | "seq">): void {
    if (!this.#closed && !this.#exited) this.#push({ type: "exited", seq: this.#ring.head + 1, ...exit });
  }

  /** Appends the end; nothing follows it. */
  appendClosed(): void {
    if (this.#closed) return;
    this.#push({ type: "closed", seq: this.#ring.head + 1, bytes: Object.freeze({ ...this.#printed }) });
  }

  /**
   * Adds a delivery that another program has numbered; duplicates are ignored. Returns false if it cannot follow: it leaves a
   * hole, is a second exit, is a gap that covers the exit, is an end without an exit, or comes after the end.
   */
  accept(delivery: ProcessEvent | GapNotice): boolean {
    const { head } = this.#ring;
    if (lastSeqOf(delivery) <= head) return true;
    if (this.#closed || firstSeqOf(delivery) !== head + 1 || !mayFollow(delivery, this.#exited)) return false;
    this.#push(delivery.type === "gap" ? this.#measured(delivery) : compact(delivery));
    return true;
  }

  /** The exit becomes known ahead of its turn. Returns false if it contradicts the known exit, or its seq is already covered. */
  announceExit(exit: ExitedEvent): boolean {
    if (this.#exited) return isSameExit(exit, this.#exited);
    if (this.#closed || exit.seq <= this.#ring.head) return false;
    this.#exited = Object.freeze(exit);
    this.#wake();
    return true;
  }

  /** Ends the log without `closed`: the process did not start, or nothing more can be known of it. */
  fail(error: ExecwireError): void {
    if (this.#closed || this.#failure) return;
    this.#failure = error;
    this.holds.check();
    this.#wake();
  }

  /**
   * Drops all events, for a writer that can send them again. Returns false and drops nothing while a hold has still to read some
   * of them, and the second time in a row: a fast process would evict the beginning again before a slow reader sees it.
   */
  restart(): boolean {
    const isFirst = !this.#isRestarted;
    this.#isRestarted = false;
    if (!isFirst || !this.holds.every((seq) => seq === 0 || seq >= this.#ring.head)) return false;
    this.#isRestarted = true;
    this.#retained.clear();
    this.#printed = { stdout: 0, stderr: 0, pty: 0 };
    this.#exitedOffset = undefined;
    return true;
  }

  next(afterSeq: Seq): Delivery | "loading" | undefined {
    const seq = afterSeq + 1;
    const { first, head } = this.#ring;
    if (seq > head) return undefined;
    if (seq >= first) {
      if (afterSeq === 0) this.#isRestarted = false;
      return this.#ring.get(seq);
    }
    const exitSeq = this.#exited?.seq ?? 0;
    if (exitSeq === seq) return this.#exited;
    if (afterSeq === 0 && this.#writer.onMissed?.()) return "loading";
    // Invariant 4: an exit inside the evicted range is delivered, so the gap ends before it.
    return gap(seq, exitSeq > seq && exitSeq < first ? exitSeq - 1 : first - 1);
  }

  offsetAfter(seq: Seq): number | undefined {
    const offset = this.#ring.offsetAfter(seq);
    if (offset !== undefined || !this.#exited) return offset;
    return seq === this.#exited.seq || seq === this.#exited.seq - 1 ? this.#exitedOffset : undefined;
  }

  bytesUpTo(seq: Seq): number {
    return this.#ring.bytesUpTo(seq);
  }

  /** The last seq of the gap that covers `seq`; for an event `seq` itself. */
  endOf(seq: Seq): Seq {
    return this.#ring.endOf(seq);
  }

  /** Known output bytes after the delivery that covers `seq`; evicted ones do not count. */
  bytesAfter(seq: Seq): number {
    return this.#retained.bytesAfter(seq);
  }

  onAppend(wake: () => void): () => void {
    // Wrapped, so that the same function can be registered twice.
    const entry = () => wake();
    // Before the registration: output that was held back while there was no reader is simply there when the reader looks.
    if (this.#wakes.size === 0) this.#writer.onFollowed?.();
    this.#wakes.add(entry);
    return () => {
      if (this.#wakes.delete(entry)) this.#writer.onReaders?.();
    };
  }

  hold(position: () => Seq, upToBytes?: number): Hold {
    const hold = this.holds.add(position, upToBytes);
    this.#writer.onReaders?.();
    return hold;
  }

  noteGap(): void {
    if (this.#counts) this.#counts.gaps += 1;
  }

  /** Evicts all output that no hold keeps, but not the end; for a closed log when closed logs use too much memory. */
  trim(): void {
    this.#retained.trim();
  }

  /** Removes this log from the budget. Readers that still have it can continue to read. */
  forget(): void {
    this.#retained.forget();
  }

  /** The sender may not know where this log was, but the log does. */
  #measured(loss: GapNotice): GapNotice {
    const { type, firstSeq, lastSeq, bytes, endOffset } = loss;
    const before = this.#ring.offsetAfter(this.#ring.head);
    if (bytes !== undefined || endOffset === undefined || before === undefined || endOffset < before) return loss;
    return { type, firstSeq, lastSeq, bytes: endOffset - before };
  }

  #push(delivery: Delivery): void {
    if (delivery.type === "output") this.#printed[delivery.stream] += delivery.chunk.length;
    else this.#note(delivery);
    this.#retained.push(Object.freeze(delivery));
    this.holds.check();
    this.#wake();
  }

  #note(delivery: Delivery): void {
    if (delivery.type === "closed") this.#closed = true;
    if (delivery.type !== "exited") return;
    this.#exited = delivery;
    this.#exitedOffset = this.#ring.offsetAfter(this.#ring.head);
  }

  /** A log that has ended pauses no writer. */
  #isFullAfter(floor: Seq): boolean {
    return !this.#closed && !this.#failure && this.#retained.isFullAfter(floor);
  }

  #wake(): void {
    for (const wake of this.#wakes) wake();
  }
}
