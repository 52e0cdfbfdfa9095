// Checks deliveries that were numbered by another program, before a log accepts them: the sender may be faulty or hostile.
import type { Delivery, ExitedEvent } from "../../protocol/index.ts";
import { firstSeqOf, lastSeqOf } from "./delivery-ring.ts";

/** Whether `delivery` may come next: `exited` and `closed` come once and are never lost. `exited` is the exit known so far. */
export function mayFollow(delivery: Delivery, exited: ExitedEvent | undefined): boolean {
  if (delivery.type === "closed") return exited !== undefined && exited.seq < delivery.seq;
  if (delivery.type === "exited") return !exited || isSameExit(delivery, exited);
  return !exited || exited.seq < firstSeqOf(delivery) || exited.seq > lastSeqOf(delivery);
}

/** Whether both events report the same exit. */
export function isSameExit(one: ExitedEvent, other: ExitedEvent): boolean {
  return one.seq === other.seq && one.exitCode === other.exitCode && one.signal === other.signal;
}

/** A chunk is a view of its frame. Copies a small chunk, which would otherwise keep a large frame in memory. */
export function compact<D extends Delivery>(delivery: D): D {
  if (delivery.type !== "output" || delivery.chunk.length * 2 > delivery.chunk.buffer.byteLength) return delivery;
  return { ...delivery, chunk: new Uint8Array(delivery.chunk) };
}
