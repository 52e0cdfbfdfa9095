// The replica of a process at an exec-server. The server pushes every event without being asked, so the replica follows
// from the beginning to the end, whether anybody reads or not, and is as good a log as the server's own.
import type { Delivery, GapNotice, ProcessEvent, Seq } from "../../../protocol/index.ts";
import type { Hold } from "../../log/log-view.ts";
import { Replica } from "../../log/replica.ts";
import type { ReplicaOptions } from "../../log/replica-source.ts";

const SOURCE = { subscribe: () => undefined, unsubscribe: () => undefined, ack: () => undefined };

/** A replica that never rests and never begins anew, and knows where its lossless readers are. */
export class CodexReplica extends Replica {
  readonly #holds = new Map<Hold, () => Seq>();
  /** Holds whose readers were taken for gone; what follows their positions may be evicted. */
  readonly #lapsed = new WeakSet<() => Seq>();
  readonly #onRead: () => void;
  /** Output bytes before the exit. */
  #exitOffset: number | undefined;

  /** `onRead` is told when a lossless reader came, moved or went; `onAppended` of each event. */
  constructor(onRead: () => void, onAppended: () => void, options: ReplicaOptions) {
    super(SOURCE, options);
    this.#onRead = onRead;
    this.follow();
    // A reader that stays: a replica without one lets events pass by.
    this.onAppend(onAppended);
  }

  /** The server sends everything as it is. */
  override subscribe(): void {
    super.subscribe();
    this.began();
  }

  /** How far all lossless readers have read; undefined where there are none. */
  get readSeq(): Seq | undefined {
    let readSeq: Seq | undefined;
    for (const [hold, position] of this.#holds) {
      if (hold.isLive && !this.#lapsed.has(position))
        readSeq = Math.min(position(), readSeq ?? Number.POSITIVE_INFINITY);
      else this.#holds.delete(hold);
    }
    return readSeq;
  }

  /** What it let go of the server has let go of as well, so for a reader at the beginning it is lost. */
  override next(afterSeq: Seq): Delivery | "loading" | undefined {
    const { firstSeq } = this;
    if (afterSeq > 0 || firstSeq === 1 || this.exited?.seq === 1) return super.next(afterSeq);
    const rest = firstSeq > 2 ? super.next(1) : undefined;
    const lastSeq = rest !== undefined && rest !== "loading" && rest.type === "gap" ? rest.lastSeq : 1;
    return Object.freeze({ type: "gap", firstSeq: 1, lastSeq });
  }

  /** Takes every lossless reader of the moment for gone. */
  lapse(): void {
    for (const position of this.#holds.values()) this.#lapsed.add(position);
    this.#holds.clear();
  }

  override accept(delivery: ProcessEvent | GapNotice): boolean {
    const accepted = super.accept(delivery);
    if (delivery.type === "exited") this.#exitOffset = super.offsetAfter(delivery.seq);
    return accepted;
  }

  /** An exit may come long before the output that pushes its neighbours out; the losses on both sides are still exact. */
  override offsetAfter(seq: Seq): number | undefined {
    const exitSeq = this.exited?.seq ?? 0;
    const atExit = exitSeq > 0 && (seq === exitSeq || seq === exitSeq - 1);
    return super.offsetAfter(seq) ?? (atExit ? this.#exitOffset : undefined);
  }

  override hold(position: () => Seq): Hold {
    const lapsed = this.#lapsed;
    const hold = super.hold(() => (lapsed.has(position) ? Number.POSITIVE_INFINITY : position()));
    this.#holds.set(hold, position);
    return {
      get isLive() {
        return hold.isLive && !lapsed.has(position);
      },
      renew: () => {
        hold.renew();
        this.#onRead();
      },
      release: () => {
        this.#holds.delete(hold);
        hold.release();
        this.#onRead();
      },
    };
  }
}
