// Messages to bytes and back: one msgpack map a frame, self-contained.

import { Packr, Unpackr } from "msgpackr";
import { checkFrame, type FrameLimits } from "./check-frame.ts";
import type { ProcessEvent } from "./events.ts";
import { limits } from "./limits.ts";
import type { ClientMessage, EventMessage, ServerMessage } from "./messages.ts";
import { present } from "./present.ts";

// A key `toJSON` is a name like any other.
const packr = new Packr({ useRecords: false, variableMapSize: true, useToJSON: false });
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: "number" });
/** For frames with a key that the other one would rename; slower. */
const mapUnpackr = new Unpackr({ useRecords: false, mapsAsObjects: false, int64AsType: "number" });

/** Encodes a message. Fields that are undefined are left out. */
export function encode(message: ClientMessage | ServerMessage): Uint8Array {
  return packr.pack(omitUndefined(message));
}

/** Encodes an event for all viewers of a channel; `chunk` comes last, as events are built. */
export function encodeEvent(channel: number, event: ProcessEvent): Uint8Array {
  const message: EventMessage = { type: "event", channel, event };
  return packr.pack(message);
}

/**
 * Decodes a frame to plain data: object, array, string, boolean, null, finite number or bytes. Throws with a sentence about
 * what is wrong. Byte strings are views of the frame: copy small ones before keeping them.
 */
export function decode(frame: Uint8Array, bounds: FrameLimits = limits): unknown {
  return checkFrame(frame, bounds) ? toObjects(mapUnpackr.unpack(frame)) : unpackr.unpack(frame);
}

/** Objects whose every key is a field of their own, also `__proto__`. */
function toObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toObjects);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, item]) => [key, toObjects(item)]));
}

/** msgpack has no undefined; msgpackr would write an extension for it. What holds none is not copied: lists are long. */
function omitUndefined(value: unknown): unknown {
  return isWhole(value) ? value : withoutUndefined(value);
}

/** Whether it is plain data without undefined. */
function isWhole(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value !== undefined;
  if (Array.isArray(value)) return value.every(isWhole);
  const fields = value as Readonly<Record<string, unknown>>;
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const name of Object.keys(fields)) if (!isWhole(fields[name])) return false;
  return true;
}

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(withoutUndefined);
  return present(Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutUndefined(item)])));
}
