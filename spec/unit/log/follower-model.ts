// A follower and everything it depends on, without a network: a source that serves a real log over a connection that can be
// cut, and readers that compare their deliveries with what was printed.
import { expect } from "@jest/globals";
import { Cursor } from "../../../lib/log/cursor.ts";
import { type EventSource, Follower, type FollowerOptions } from "../../../lib/log/follower.ts";
import type { Hold } from "../../../lib/log/log-view.ts";
import type { ReplayLog } from "../../../lib/log/replay-log.ts";
import { AckedPosition } from "../../../lib/server/sessions/acked-position.ts";
import type { Delivery, DeliveryMode, GapNotice, ProcessEvent, Seq } from "../../../protocol/index.ts";

/** The server's side of one subscription: a cursor, and a window from the position that its session holds. */
class ServedSubscription {
  readonly #cursor: Cursor;
  readonly #windowBytes: number;
  readonly #position: AckedPosition | undefined;

  constructor(log: ReplayLog, afterSeq: Seq, windowBytes: number, position: AckedPosition | undefined) {
    this.#cursor = new Cursor(log, afterSeq);
    this.#windowBytes = windowBytes;
    this.#position = position;
  }

  /** The next frame, if there is one and the window is open. */
  next(): ProcessEvent | GapNotice | undefined {
    if (this.#position && this.#position.bytesUpTo(this.#cursor.afterSeq) >= this.#windowBytes) return undefined;
    return this.#cursor.next() as ProcessEvent | GapNotice | undefined;
  }

  ack(seq: Seq): void {
    // Events that were never sent cannot be acknowledged.
    expect(seq).toBeLessThanOrEqual(this.#cursor.afterSeq);
    this.#position?.ack(seq);
  }
}

/** A frame on its way to the follower; `began` confirms a subscription by its number. */
type Frame = { readonly type: "began"; readonly round: number } | ProcessEvent | GapNotice;

/** The connection between a follower and its source: frames in flight are lost when it is cut. */
export class Line {
  readonly follower: Follower;
  readonly #log: ReplayLog;
  readonly #windowBytes: number;
  #requests: (() => void)[] = [];
  #frames: Frame[] = [];
  #subscription: ServedSubscription | undefined;
  /** Belongs to the session: a cut leaves it as it is. */
  #position: AckedPosition | undefined;
  #round = 0;
  up = true;

  constructor(log: ReplayLog, options: FollowerOptions & { readonly windowBytes: number }) {
    this.#log = log;
    this.#windowBytes = options.windowBytes;
    const source: EventSource = {
      subscribe: (afterSeq, delivery, acked) => {
        this.#round += 1;
        const round = this.#round;
        this.#request(() => this.#serve(afterSeq, delivery, acked, round));
      },
      unsubscribe: () => {
        this.#round += 1;
        this.#request(() => {
          this.#subscription = undefined;
          this.#release();
        });
      },
      ack: (seq) => this.#request(() => this.#subscription?.ack(seq)),
    };
    this.follower = new Follower(source, options);
  }

  cut(): void {
    this.up = false;
    this.#requests = [];
    this.#frames = [];
    this.#subscription = undefined;
  }

  mend(): void {
    if (this.up) return;
    this.up = true;
    if (this.follower.wanted) this.follower.subscribe();
  }

  /** Moves up to `count` messages, in both directions. True when there was one. */
  step(count: number): boolean {
    let moved = false;
    for (let done = 0; this.up && done < count; done += 1) {
      const request = this.#requests.shift();
      request?.();
      const next = this.#subscription?.next();
      if (next) this.#frames.push(next);
      const frame = this.#frames.shift();
      if (frame?.type === "began") this.#began(frame.round);
      else if (frame) expect(this.follower.accept(frame)).toBe(true);
      if (!request && !frame) return moved;
      moved = true;
    }
    return moved;
  }

  #request(act: () => void): void {
    if (this.up) this.#requests.push(act);
  }

  #serve(afterSeq: Seq, delivery: DeliveryMode, acked: Seq, round: number): void {
    if (delivery === "gap") this.#release();
    else if (this.#position?.isLive) this.#position.moveTo(acked);
    else this.#position = new AckedPosition(this.#log, acked);
    this.#subscription = new ServedSubscription(this.#log, afterSeq, this.#windowBytes, this.#position);
    this.#frames.push({ type: "began", round });
  }

  /** The confirmation of an earlier subscription is out of date. */
  #began(round: number): void {
    if (round === this.#round) this.follower.began();
  }

  #release(): void {
    this.#position?.release();
    this.#position = undefined;
  }
}

/** Reads a log at its own pace, and compares everything with what was printed. */
export class FollowingReader {
  readonly #log: ReplayLog;
  readonly #printed: readonly ProcessEvent[];
  readonly #cursor: Cursor;
  readonly #hold: Hold | undefined;
  readonly #stop: () => void;
  position: Seq;
  /** Seqs announced as lost, and those among them after the first retained event. */
  lost = 0;
  lostLater = 0;
  /** An exit in the evicted range does not count: the range before and after it was lost before this reader came. */
  #hasRead = false;
  open = true;

  constructor(log: ReplayLog, printed: readonly ProcessEvent[], afterSeq: Seq, lossless: boolean) {
    this.#log = log;
    this.#printed = printed;
    this.#cursor = new Cursor(log, afterSeq);
    this.position = afterSeq;
    this.#hold = lossless ? log.hold(() => this.#cursor.afterSeq) : undefined;
    this.#stop = log.onAppend(() => undefined);
  }

  /** Reads up to `count` deliveries; true when there was one. */
  read(count: number): boolean {
    let any = false;
    for (let done = 0; this.open && done < count; done += 1) {
      const delivery = this.#cursor.next();
      const { firstSeq } = this.#log;
      this.#hold?.renew();
      if (delivery === undefined || delivery === "loading") return any;
      this.#check(delivery);
      this.#hasRead ||= delivery.type !== "gap" && delivery.seq >= firstSeq;
      any = true;
    }
    return any;
  }

  leave(): void {
    if (!this.open) return;
    this.open = false;
    this.#stop();
    this.#hold?.release();
  }

  #check(delivery: Delivery): void {
    if (delivery.type === "gap") {
      const { firstSeq, lastSeq, bytes } = delivery;
      expect(firstSeq).toBe(this.position + 1);
      expect(lastSeq).toBeGreaterThanOrEqual(firstSeq);
      const lost = this.#printed.slice(firstSeq - 1, lastSeq);
      expect(lost.length).toBe(lastSeq - firstSeq + 1);
      expect(lost.filter(({ type }) => type === "exited" || type === "closed")).toEqual([]);
      if (bytes !== undefined) expect(bytes).toBe(lost.reduce((sum, event) => sum + sizeOf(event), 0));
      if (this.#hasRead) this.lostLater += lost.length;
      this.position = lastSeq;
      this.lost += lost.length;
      return;
    }
    expect(delivery.seq).toBe(this.position + 1);
    expect(delivery).toEqual(this.#printed[delivery.seq - 1]);
    this.position = delivery.seq;
  }
}

/** Output bytes of an event. */
export function sizeOf(event: Delivery): number {
  return event.type === "output" ? event.chunk.length : 0;
}
