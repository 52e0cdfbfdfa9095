// What a log accepts that was numbered elsewhere. Its sender may be another program than it says, or mean harm.
import type { Delivery, ExitedEvent } from "../../protocol/index.ts";
import { firstSeqOf, lastSeqOf } from "./delivery-ring.ts";

/** Whether a log may go on like that: `exited` and `closed` are never lost and come once. The exit may be known beforehand. */
export function mayFollow(delivery: Delivery, exited: ExitedEvent | undefined): boolean {
  if (delivery.type === "closed") return exited !== undefined && exited.seq < delivery.seq;
  if (delivery.type === "exited") return !exited || isSameExit(delivery, exited);
  return !exited || exited.seq < firstSeqOf(delivery) || exited.seq > lastSeqOf(delivery);
}

/** Whether both are the same end of the same process. */
export function isSameExit(one: ExitedEvent, other: ExitedEvent): boolean {
  return one.seq === other.seq && one.exitCode === other.exitCode && one.signal === other.signal;
}

/** A chunk is a view of its frame: a small one must not keep a large frame in memory. */
export function compact<D extends Delivery>(delivery: D): D {
  if (delivery.type !== "output" || delivery.chunk.length * 2 > delivery.chunk.buffer.byteLength) return delivery;
  return { ...delivery, chunk: new Uint8Array(delivery.chunk) };
}
