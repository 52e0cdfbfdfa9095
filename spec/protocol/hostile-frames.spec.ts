// Frames from somebody who means harm: each is refused with a sentence, or is a message that the checks accept as plain data.
// None crashes, hangs or leaves anything behind for the next frame.
import { describe, expect, it } from "@jest/globals";
import fc from "fast-check";
import {
  checkClientMessage,
  checkParams,
  checkServerMessage,
  decode,
  encode,
  isMethod,
  limits,
  type RequestMessage,
} from "../../protocol/index.ts";
import { runs } from "../support/fuzz.ts";

const fromHex = (text: string) => Buffer.from(text.replace(/\s/g, ""), "hex");

/** What a frame comes to: refused, a problem, or accepted. Anything that is not plain data is a failure of the spec. */
function outcomeOf(frame: Uint8Array): "refused" | "problem" | "accepted" {
  let message: unknown;
  try {
    message = decode(frame);
  } catch (error) {
    if (!(error instanceof Error)) throw new Error(`the refusal is no Error: ${String(error)}`);
    return "refused";
  }
  checkPlain(message, 0);
  const problems = [checkClientMessage(message), checkServerMessage(message)];
  if (!problems[0]) checkRequest(message as RequestMessage);
  return problems.every(Boolean) ? "problem" : "accepted";
}

function checkRequest({ type, method, params }: RequestMessage): void {
  if (type === "request" && isMethod(method)) checkParams(method, params);
}

/** Throws for anything else. Without `expect`, which would take most of the time of this file. */
function checkPlain(value: unknown, depth: number): void {
  if (depth > limits.messageDepth) throw new Error("too deep");
  if (value === null || value instanceof Uint8Array || ["string", "boolean"].includes(typeof value)) return;
  if (typeof value === "number" && Number.isFinite(value)) return;
  if (typeof value !== "object") throw new Error(`a ${typeof value} is no plain data: ${String(value)}`);
  const prototype: unknown = Object.getPrototypeOf(value);
  const allowed: unknown[] = Array.isArray(value) ? [Array.prototype] : [Object.prototype, null];
  if (!allowed.includes(prototype)) throw new Error("an object with a prototype of its own is no plain data");
  for (const item of Object.values(value)) checkPlain(item, depth + 1);
}

const written = encode({
  type: "request",
  id: 1,
  acked: [1, 2, 300],
  method: "process/write",
  params: { processId: "p", incarnation: "i", writeId: "w", chunk: Uint8Array.of(1, 2, 3, 4, 5) },
});
const started = encode({
  type: "request",
  id: 2,
  acked: [],
  method: "process/start",
  params: { spec: { argv: ["a", "b"], env: { A: "b" }, tty: { rows: 3, cols: 4 }, timeoutMs: 5 }, incarnation: "i" },
});
const closed = encode({
  type: "event",
  channel: 1,
  event: { type: "closed", seq: 9, bytes: { stdout: 1, stderr: 2, pty: 3 } },
});

describe("a hostile frame", () => {
  it("of arbitrary bytes is refused or plain data", () => {
    fc.assert(
      fc.property(fc.uint8Array({ maxLength: 200 }), (frame) => {
        outcomeOf(frame);
      }),
      runs(5_000),
    );
  });

  it("made of a message with bytes changed, cut out or put in is refused or plain data", () => {
    const change = fc.record({
      at: fc.nat(200),
      remove: fc.nat(4),
      insert: fc.oneof(fc.uint8Array({ maxLength: 6 }), fc.constantFrom(...HEADS.map((head) => Uint8Array.from(head)))),
    });
    fc.assert(
      fc.property(
        fc.constantFrom(written, started, closed),
        fc.array(change, { minLength: 1, maxLength: 3 }),
        (base, changes) => {
          let frame = Buffer.from(base);
          for (const { at, remove, insert } of changes) {
            const place = at % (frame.length + 1);
            frame = Buffer.concat([frame.subarray(0, place), insert, frame.subarray(place + remove)]);
          }
          outcomeOf(frame);
        },
      ),
      runs(5_000),
    );
  });

  it.each([
    ["nothing", ""],
    ["the byte that msgpack never uses", "c1"],
    ["a date", "d6ff 65000000"],
    ["a date of 64 bits", "d7ff 0000000065000000"],
    ["a date of 96 bits", "c70cff 00000000 0000000065000000"],
    ["an unknown extension", "d405 00"],
    ["undefined, as msgpackr writes it", "d400 00"],
    ["a record definition of msgpackr", "d47240 91a161 01"],
    ["a regular expression", "c70678 92a161a167"],
    ["a set", "d47300 920102"],
    ["an error", "c70a65 93a54572726f72a178c0"],
    ["typed bytes", "c70374 01 0708"],
    ["typed words", "c70574 06 01000000"],
    ["a big integer", "d742 0000000000000001"],
    ["packed strings", "d46201 01"],
    ["not a number", "cb7ff8000000000000"],
    ["infinity", "cb7ff0000000000000"],
    ["infinity in 32 bits", "ca7f800000"],
    ["two values", "8080"],
    ["a string longer than the frame", "dbffffffff61"],
    ["bytes longer than the frame", "c6ffffffff61"],
    ["an array longer than the frame", "ddffffffff01"],
    ["a map larger than the frame", "dfffffffffa16101"],
    ["an array that is cut off", "9201"],
    ["a map whose key is a map", "8181a1610102"],
  ])("with %s is refused", (_name, text) => {
    expect(outcomeOf(fromHex(text))).toBe("refused");
    // Also inside of what else would be a message.
    const inside = Buffer.concat([fromHex("82a474797065a470696e67a178"), fromHex(text)]);
    expect(outcomeOf(inside)).toBe("refused");
  });

  it.each([
    ["arrays", 0x91],
    ["maps", 0x81],
  ])("of %s in each other a million deep is refused", (kind, head) => {
    const level = kind === "maps" ? [head, 0xa1, 0x61] : [head];
    const frame = Buffer.concat([Buffer.alloc(1_000_000 * level.length, Buffer.from(level)), fromHex("c0")]);
    expect(outcomeOf(frame)).toBe("refused");
  });

  it("may be nested as deep as the limit, and no deeper", () => {
    const nested = (levels: number) => Buffer.from([...Array(levels).fill(0x91), 0x01]);
    expect(decode(nested(limits.messageDepth))).toBeDefined();
    expect(() => decode(nested(limits.messageDepth + 1))).toThrow(/nested deeper than 16 levels/);
  });

  it("that announces much and holds little takes no memory", () => {
    const heads = Array.from({ length: 5_000 }, () => fromHex("dd00003fff"));
    const before = process.memoryUsage().rss;
    for (let round = 0; round < 20; round += 1) expect(outcomeOf(Buffer.concat(heads))).toBe("refused");
    expect(process.memoryUsage().rss - before).toBeLessThan(200 * 1024 * 1024);
  });

  it("cannot reach the prototype of anything", () => {
    const frame = encode(
      JSON.parse('{"type":"request","id":1,"acked":[],"method":"process/list","params":{"__proto__":{"polluted":1}}}'),
    );
    outcomeOf(frame);
    outcomeOf(fromHex("81 a9 5f5f70726f746f5f5f 81 a8 706f6c6c75746564 01"));
    expect(({} as { polluted?: number }).polluted).toBeUndefined();
    expect(isMethod("__proto__")).toBe(false);
    expect(isMethod("constructor")).toBe(false);
  });

  it("leaves nothing behind for the next one", () => {
    for (const text of ["d47240 91a161 01", "d47240 91", "d40500", "c1", "9140", "dc"]) outcomeOf(fromHex(text));
    // 0x40 would be a record, had one of them been kept.
    expect(decode(fromHex("9240 7f"))).toEqual([0x40, 0x7f]);
  });

  it("is refused without being shown: the sentence is short", () => {
    const long = "x".repeat(1_000_000);
    const problem = checkClientMessage({ type: "request", id: 1, acked: [], method: long, params: {} });
    expect(problem?.message.length).toBeLessThan(200);
    const wrong = checkParams("process/signal", { processId: "p", incarnation: "i", signal: long });
    expect(wrong?.message.length).toBeLessThan(200);
  });
});

/** Beginnings of everything that msgpack knows, to be put where they hurt. */
const HEADS = [
  [0xc1],
  [0xc4, 0xff],
  [0xc6, 0xff, 0xff, 0xff, 0xff],
  [0xc7, 0x00, 0x72],
  [0xc9, 0xff, 0xff, 0xff, 0xff, 0x70],
  [0xcb, 0x7f, 0xf8, 0, 0, 0, 0, 0, 0],
  [0xcf, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff],
  [0xd4, 0x72, 0x40],
  [0xd6, 0x69, 0, 0, 0, 1],
  [0xd6, 0x70, 0, 0, 0, 1],
  [0xd7, 0xff],
  [0xdb, 0xff, 0xff, 0xff, 0xff],
  [0xdd, 0xff, 0xff, 0xff, 0xff],
  [0xdf, 0x00, 0x00, 0xff, 0xff],
];
