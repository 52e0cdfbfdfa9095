// Encodes and decodes messages: one self-contained msgpack map per frame.
import { Packr, Unpackr } from "msgpackr";
import { checkFrame, type FrameLimits } from "./check-frame.ts";
import type { ProcessEvent } from "./events.ts";
import { limits } from "./limits.ts";
import type { ClientMessage, EventMessage, ServerMessage } from "./messages.ts";
import { present } from "./present.ts";

// `toJSON` must stay an ordinary key.
const packr = new Packr({ useRecords: false, variableMapSize: true, useToJSON: false });
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true, int64AsType: "number" });
/** For frames with a key that the other unpacker would rename; slower. */
const mapUnpackr = new Unpackr({ useRecords: false, mapsAsObjects: false, int64AsType: "number" });

/** Encodes a message. Fields that are undefined are left out. */
export function encode(message: ClientMessage | ServerMessage): Uint8Array {
  return packr.pack(omitUndefined(message));
}

/** Encodes an event once for all viewers of a channel. `chunk` comes last, because events are built that way. */
export function encodeEvent(channel: number, event: ProcessEvent): Uint8Array {
  const message: EventMessage = { type: "event", channel, event };
  return packr.pack(message);
}

/**
 * Decodes a frame to plain data: object, array, string, boolean, null, finite number or bytes. Throws with a message that says
 * what is wrong. Byte strings are views of the frame: copy small ones before keeping them, or they keep the whole frame in
 * memory.
 */
export function decode(frame: Uint8Array, bounds: FrameLimits = limits): unknown {
  return checkFrame(frame, bounds) ? toObjects(mapUnpackr.unpack(frame)) : unpackr.unpack(frame);
}

/** Converts maps to objects that keep every key as an own property, including `__proto__`. */
function toObjects(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(toObjects);
  if (!(value instanceof Map)) return value;
  return Object.fromEntries([...value].map(([key, item]) => [key, toObjects(item)]));
}

/**
 * msgpack has no undefined; msgpackr would write an extension for it. A value without any is not copied, since lists are long.
 */
function omitUndefined(value: unknown): unknown {
  return hasNoUndefined(value) ? value : withoutUndefined(value);
}

/** Whether a value is plain data without undefined. */
function hasNoUndefined(value: unknown): boolean {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value !== undefined;
  if (Array.isArray(value)) return value.every(hasNoUndefined);
  const fields = value as Readonly<Record<string, unknown>>;
  if (Object.getPrototypeOf(value) !== Object.prototype) return false;
  for (const name of Object.keys(fields)) if (!hasNoUndefined(fields[name])) return false;
  return true;
}

function withoutUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(withoutUndefined);
  return present(Object.fromEntries(Object.entries(value).map(([name, item]) => [name, withoutUndefined(item)])));
}
