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

/**
 * Size of the buffer to which messages are encoded before they are copied. Without it, msgpackr encodes all messages to slices of
 * one buffer, which it makes four times as large as the largest message: a small unsent frame would keep megabytes in memory.
 */
const SCRATCH_BYTES = 64 * 1024;
/** A buffer that has grown is reused up to this size: large enough for the reply to a read of a whole log. */
const MAX_SCRATCH_BYTES = 2 * 1024 * 1024;
/** A chunk of at least this size is copied directly into its frame. */
const LARGE_CHUNK_BYTES = 4 * 1024;
const NO_BYTES = new Uint8Array();

/** The byte array of msgpackr: in Node a Buffer, which is not zeroed and is cut from a shared slab when small. */
const Bytes = packr.pack(null).constructor as Uint8ArrayConstructor & { allocUnsafe?(bytes: number): Uint8Array };
const allocate = (bytes: number): Uint8Array => Bytes.allocUnsafe?.(bytes) ?? new Uint8Array(bytes);

let scratch = allocate(SCRATCH_BYTES);

/** Encodes a message. Fields that are undefined are left out. The frame is a copy of the size of the message. */
export function encode(message: ClientMessage | ServerMessage): Uint8Array {
  return copyOf(pack(omitUndefined(message)));
}

/** Encodes an event once for all viewers of a channel. `chunk` comes last, because events are built that way. */
export function encodeEvent(channel: number, event: ProcessEvent): Uint8Array {
  const message: EventMessage = { type: "event", channel, event };
  if (event.type !== "output" || event.chunk.length < LARGE_CHUNK_BYTES) return copyOf(pack(message));
  const { chunk, ...rest } = event;
  const packed = pack({ ...message, event: { ...rest, chunk: NO_BYTES } });
  // The empty chunk is the last two bytes.
  const head = packed.length - 2;
  const isLong = chunk.length > 0xffff;
  const start = head + (isLong ? 5 : 3);
  const frame = allocate(start + chunk.length);
  frame.set(packed.subarray(0, head));
  const view = new DataView(frame.buffer, frame.byteOffset + head);
  view.setUint8(0, isLong ? 0xc6 : 0xc5);
  if (isLong) view.setUint32(1, chunk.length);
  else view.setUint16(1, chunk.length);
  frame.set(chunk, start);
  return frame;
}

/** Encodes to the scratch buffer. The result is valid until the next call. */
function pack(message: unknown): Uint8Array {
  packr.useBuffer(scratch);
  const packed = packr.pack(message);
  const bytes = packed.length + SCRATCH_BYTES;
  if (packed.buffer !== scratch.buffer && bytes <= MAX_SCRATCH_BYTES) scratch = allocate(bytes);
  return packed;
}

function copyOf(packed: Uint8Array): Uint8Array {
  const frame = allocate(packed.length);
  frame.set(packed);
  return frame;
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
