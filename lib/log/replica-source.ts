// What a replica needs from whoever brings it the events.
import type { DeliveryMode, Seq } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";

/** Where the events come from. */
export interface ReplicaSource {
  /**
   * Send what follows `afterSeq`, from now on; answered by a call of `began`. Replaces an earlier one, whose answer is out of
   * date from here on and not told. Read is up to `acked`.
   */
  subscribe(afterSeq: Seq, delivery: DeliveryMode, acked: Seq): void;
  /** Send nothing any more. */
  unsubscribe(): void;
  /** Everything up to `seq` was taken; only of interest to a lossless subscription. */
  ack(seq: Seq): void;
}

/** What a replica may hold. */
export interface ReplicaOptions {
  readonly delivery: DeliveryMode;
  readonly retainedBytes?: number;
  readonly retainedEvents?: number;
  readonly windowBytes?: number;
  readonly clock?: Clock;
}
