// The simplest log, to compare ReplayLog with: an array that evicts nothing, and a reader that checks its deliveries
// against it.
import { expect } from "@jest/globals";
import { Cursor } from "../../../lib/log/cursor.ts";
import type { Hold } from "../../../lib/log/log-view.ts";
import type { ReplayLog } from "../../../lib/log/replay-log.ts";
import type { ProcessEvent, Seq, StreamName } from "../../../protocol/index.ts";

/** All events of a process. */
export class LogModel {
  readonly events: ProcessEvent[] = [];
  readonly #chunkBytes: number;

  constructor(chunkBytes: number) {
    this.#chunkBytes = chunkBytes;
  }

  get headSeq(): Seq {
    return this.events.length;
  }

  get closed(): boolean {
    return this.events.at(-1)?.type === "closed";
  }

  /** Bytes of the outputs `firstSeq..lastSeq`. */
  bytes(firstSeq: Seq, lastSeq: Seq): number {
    return this.events
      .slice(firstSeq - 1, lastSeq)
      .reduce((sum, event) => sum + (event.type === "output" ? event.chunk.length : 0), 0);
  }

  output(stream: StreamName, chunk: Uint8Array): void {
    for (let at = 0; at < chunk.length && !this.closed; at += this.#chunkBytes) {
      const part = chunk.slice(at, at + this.#chunkBytes);
      this.events.push({ type: "output", seq: this.headSeq + 1, stream, chunk: part });
    }
  }

  resized(rows: number): void {
    if (!this.closed) this.events.push({ type: "resized", seq: this.headSeq + 1, size: { rows, cols: 80 } });
  }

  exited(exitCode: number): void {
    if (this.closed || this.events.some(({ type }) => type === "exited")) return;
    this.events.push({ type: "exited", seq: this.headSeq + 1, ...exitOf(exitCode) });
  }

  close(): void {
    if (this.closed) return;
    const bytes = { stdout: 0, stderr: 0, pty: 0 };
    for (const event of this.events) if (event.type === "output") bytes[event.stream] += event.chunk.length;
    this.events.push({ type: "closed", seq: this.headSeq + 1, bytes });
  }
}

/** An exit with that code. */
export function exitOf(exitCode: number) {
  const result = exitCode === 0 ? ("success" as const) : ("error" as const);
  return { exitCode, signal: null, result, reason: "exited" as const, sandboxDenied: false };
}

/** A cursor that compares every delivery with the model. */
export class CheckedReader {
  readonly hold: Hold | undefined;
  readonly #log: ReplayLog;
  readonly #model: LogModel;
  readonly #cursor: Cursor;
  /** The range that was evicted before the reader came; a reader with a hold gets no other gap. */
  readonly #lostBefore: Seq;
  #position: Seq;
  /** Whether the log must know the byte offset of the position. */
  #placed: boolean;
  #held: boolean;

  constructor(log: ReplayLog, model: LogModel, afterSeq: Seq, held: boolean) {
    this.#log = log;
    this.#model = model;
    this.#cursor = new Cursor(log, afterSeq);
    this.#position = afterSeq;
    this.#lostBefore = log.firstSeq - 1;
    this.#placed = afterSeq === 0 || (afterSeq >= log.firstSeq - 1 && afterSeq <= log.headSeq);
    this.#held = held;
    if (held) this.hold = log.hold(() => this.#cursor.afterSeq);
  }

  get position(): Seq {
    return this.#position;
  }

  get held(): boolean {
    return this.#held;
  }

  release(): void {
    this.hold?.release();
    this.#held = false;
  }

  /** Reads up to `count` deliveries. */
  read(count: number): void {
    for (let read = 0; read < count && this.#readOne(); read += 1) this.hold?.renew();
  }

  #readOne(): boolean {
    const delivery = this.#cursor.next();
    if (delivery === undefined || delivery === "loading") {
      expect(this.#model.headSeq).toBeLessThanOrEqual(this.#position);
      return false;
    }
    if (delivery.type === "gap") {
      const { firstSeq, lastSeq, bytes } = delivery;
      expect(firstSeq).toBe(this.#position + 1);
      expect(lastSeq).toBeGreaterThanOrEqual(firstSeq);
      expect(lastSeq).toBeLessThan(this.#log.firstSeq);
      if (this.#held) expect(lastSeq).toBeLessThanOrEqual(this.#lostBefore);
      const lost = this.#model.events.slice(firstSeq - 1, lastSeq).map(({ type }) => type);
      expect(lost).not.toContain("exited");
      expect(lost).not.toContain("closed");
      if (this.#placed || bytes !== undefined) expect(bytes).toBe(this.#model.bytes(firstSeq, lastSeq));
      this.#position = lastSeq;
      this.#placed = true;
    } else {
      expect(delivery.seq).toBe(this.#position + 1);
      expect(plain(delivery)).toEqual(plain(this.#model.events[delivery.seq - 1]));
      expect(Object.isFrozen(delivery)).toBe(true);
      this.#position = delivery.seq;
    }
    expect(this.#cursor.afterSeq).toBe(this.#position);
    return true;
  }
}

/** With its bytes as an array, since a view and a copy of the same bytes are equal here. */
function plain(event: ProcessEvent | undefined) {
  return event?.type === "output" ? { ...event, chunk: [...event.chunk] } : event;
}
