// Messages to bytes and back: one msgpack map a frame, self-contained. What a hostile frame can decode to beside plain
// data (dates, sets, regular expressions, errors) ends here.
import { Packr, Unpackr } from "msgpackr";
import type { ProcessEvent } from "./events.ts";
import { limits } from "./limits.ts";
import type { ClientMessage, EventMessage, ServerMessage } from "./messages.ts";

const packr = new Packr({ useRecords: false, variableMapSize: true });
const unpackr = new Unpackr({ useRecords: false, mapsAsObjects: true });

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
export function decode(frame: Uint8Array): unknown {
  const value: unknown = unpackr.unpack(frame);
  checkPlain(value, 0);
  return value;
}

function checkPlain(value: unknown, depth: number): void {
  if (depth > limits.messageDepth) throw new Error(`is nested deeper than ${limits.messageDepth} levels`);
  switch (typeof value) {
    case "string":
    case "boolean":
      return;
    case "number":
      if (Number.isFinite(value)) return;
      throw new Error("holds a number that is not finite");
    case "object":
      break;
    default:
      throw new Error(`holds a ${typeof value}`);
  }
  if (value === null || value instanceof Uint8Array) return;
  if (Array.isArray(value)) {
    for (const item of value) checkPlain(item, depth + 1);
    return;
  }
  const prototype: unknown = Object.getPrototypeOf(value);
  if (prototype !== Object.prototype && prototype !== null) throw new Error("holds an object that is not plain data");
  for (const item of Object.values(value as object)) checkPlain(item, depth + 1);
}

/** msgpack has no undefined; msgpackr would write an extension for it. */
function omitUndefined(value: unknown): unknown {
  if (typeof value !== "object" || value === null || value instanceof Uint8Array) return value;
  if (Array.isArray(value)) return value.map(omitUndefined);
  const present = Object.entries(value).filter(([, item]) => item !== undefined);
  return Object.fromEntries(present.map(([name, item]) => [name, omitUndefined(item)]));
}
