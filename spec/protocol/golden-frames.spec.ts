// The bytes of every message, as another program would have to write and read them. A change here breaks old peers.
import { describe, expect, it } from "@jest/globals";
import {
  type Activity,
  type ClientMessage,
  checkClientMessage,
  checkServerMessage,
  decode,
  encode,
  encodeEvent,
  type PipeHolder,
  type ProcessInfo,
  type ServerMessage,
} from "../../protocol/index.ts";
import { bytes } from "../support/wire-notation.ts";

const process: ProcessInfo = {
  processId: "p",
  incarnation: "i",
  state: "running",
  argv: ["/bin/true"],
  cwd: "/",
  tty: false,
  stdin: true,
  pid: 4242,
  startedAt: 1_700_000_000_000,
  exitCode: null,
  signal: null,
  sandbox: "none",
  labels: { a: "b" },
};
const PROCESS = `8d "processId"="p" "incarnation"="i" "state"="running" "argv"=91 "/bin/true" "cwd"="/" "tty"=c2 "stdin"=c3
  "pid"=cd1092 "startedAt"=cb4278bcfe56800000 "exitCode"=c0 "signal"=c0 "sandbox"="none" "labels"=81 "a"="b"`;
const AT = `"processId"="p" "incarnation"="i"`;
const at = { processId: "p", incarnation: "i" };

const request = (method: string, params: object): ClientMessage =>
  ({ type: "request", id: 7, acked: [5, 6], method, params }) as ClientMessage;
const REQUEST = (method: string, params: string) =>
  `85 "type"="request" "id"=07 "acked"=92 05 06 "method"="${method}" "params"=${params}`;

const fromClient: [string, ClientMessage, string][] = [
  ["hello", { type: "hello", version: 1, token: "t" }, `83 "type"="hello" "version"=01 "token"="t"`],
  [
    "hello to resume",
    { type: "hello", version: 1, resume: { sessionId: "s", secret: "x", pending: [300, 70_000] } },
    `83 "type"="hello" "version"=01 "resume"=83 "sessionId"="s" "secret"="x" "pending"=92 cd012c ce00011170`,
  ],
  ["ack", { type: "ack", channel: 3, seq: 128 }, `83 "type"="ack" "channel"=03 "seq"=cc80`],
  [
    "networkAnswer",
    { type: "networkAnswer", id: 3, answer: "allow" },
    `83 "type"="networkAnswer" "id"=03 "answer"="allow"`,
  ],
  [
    "networkAnswer with a reason",
    { type: "networkAnswer", id: 3, answer: { deny: "no" } },
    `83 "type"="networkAnswer" "id"=03 "answer"=81 "deny"="no"`,
  ],
  ["ping", { type: "ping" }, `81 "type"="ping"`],
  ["pong", { type: "pong" }, `81 "type"="pong"`],
  [
    "process/start of a managed network",
    request("process/start", {
      spec: { argv: ["a"] },
      incarnation: "i",
      network: { requests: true, decisions: false },
    }),
    REQUEST("process/start", `83 "spec"=81 "argv"=91 "a" "incarnation"="i" "network"=82 "requests"=c3 "decisions"=c2`),
  ],
  [
    "process/start",
    request("process/start", { spec: { argv: ["/bin/true"], env: {} }, incarnation: "i", subscribe: "lossless" }),
    REQUEST("process/start", `83 "spec"=82 "argv"=91 "/bin/true" "env"=80 "incarnation"="i" "subscribe"="lossless"`),
  ],
  ["process/attach", request("process/attach", { processId: "p" }), REQUEST("process/attach", `81 "processId"="p"`)],
  ["process/list", request("process/list", {}), REQUEST("process/list", "80")],
  [
    "process/subscribe",
    request("process/subscribe", { ...at, afterSeq: 9, delivery: "gap" }),
    REQUEST("process/subscribe", `84 ${AT} "afterSeq"=09 "delivery"="gap"`),
  ],
  ["process/unsubscribe", request("process/unsubscribe", at), REQUEST("process/unsubscribe", `82 ${AT}`)],
  [
    "process/read",
    request("process/read", { ...at, afterSeq: 0, maxBytes: 65_536, waitMs: 1_000 }),
    REQUEST("process/read", `85 ${AT} "afterSeq"=00 "maxBytes"=ce00010000 "waitMs"=cd03e8`),
  ],
  [
    "process/write",
    request("process/write", { ...at, writeId: "w", chunk: Uint8Array.of(0, 255, 10) }),
    REQUEST("process/write", `84 ${AT} "writeId"="w" "chunk"=c403 00ff0a`),
  ],
  ["process/closeStdin", request("process/closeStdin", at), REQUEST("process/closeStdin", `82 ${AT}`)],
  [
    "process/signal",
    request("process/signal", { ...at, signal: "SIGINT", scope: "group" }),
    REQUEST("process/signal", `84 ${AT} "signal"="SIGINT" "scope"="group"`),
  ],
  [
    "process/resize",
    request("process/resize", { ...at, size: { rows: 24, cols: 200 } }),
    REQUEST("process/resize", `83 ${AT} "size"=82 "rows"=18 "cols"=ccc8`),
  ],
  [
    "process/terminate",
    request("process/terminate", { ...at, graceMs: 0 }),
    REQUEST("process/terminate", `83 ${AT} "graceMs"=00`),
  ],
  ["process/holders", request("process/holders", at), REQUEST("process/holders", `82 ${AT}`)],
  ["process/activity", request("process/activity", at), REQUEST("process/activity", `82 ${AT}`)],
  ["changes/watch", request("changes/watch", {}), REQUEST("changes/watch", "80")],
  ["session/close", request("session/close", { graceMs: 5_000 }), REQUEST("session/close", `81 "graceMs"=cd1388`)],
];

const EVENT = (event: string) => `83 "type"="event" "channel"=03 "event"=${event}`;

const fromServer: [string, ServerMessage, string][] = [
  [
    "welcome",
    {
      type: "welcome",
      version: 1,
      sessionId: "s",
      secret: "x",
      resumed: false,
      limits: { sessionTtlMs: 80_000, pingMs: 20_000, frameBytes: 16_777_216, windowBytes: 524_288 },
    },
    `86 "type"="welcome" "version"=01 "sessionId"="s" "secret"="x" "resumed"=c2
     "limits"=84 "sessionTtlMs"=ce00013880 "pingMs"=cd4e20 "frameBytes"=ce01000000 "windowBytes"=ce00080000`,
  ],
  [
    "reply with a result",
    { type: "reply", id: 7, result: { status: "accepted" } },
    `83 "type"="reply" "id"=07 "result"=81 "status"="accepted"`,
  ],
  [
    "reply to process/holders",
    {
      type: "reply",
      id: 7,
      result: { holders: [{ pid: 4242, command: "sleep 9", streams: ["stdin", "stdout"] } satisfies PipeHolder] },
    },
    `83 "type"="reply" "id"=07 "result"=81 "holders"=91 83 "pid"=cd1092 "command"="sleep 9" "streams"=92 "stdin" "stdout"`,
  ],
  [
    "reply to process/activity",
    {
      type: "reply",
      id: 7,
      result: { activity: { state: "reading-stdin", pid: 4242, command: "cat" } satisfies Activity },
    },
    `83 "type"="reply" "id"=07 "result"=81 "activity"=83 "state"="reading-stdin" "pid"=cd1092 "command"="cat"`,
  ],
  [
    "reply with an error",
    { type: "reply", id: 7, error: { code: "PROCESS_UNKNOWN", message: "no", data: { processId: "p" } } },
    `83 "type"="reply" "id"=07 "error"=83 "code"="PROCESS_UNKNOWN" "message"="no" "data"=81 "processId"="p"`,
  ],
  [
    "output",
    { type: "event", channel: 3, event: { type: "output", seq: 1, stream: "pty", chunk: Uint8Array.of(1, 2) } },
    EVENT(`84 "type"="output" "seq"=01 "stream"="pty" "chunk"=c402 0102`),
  ],
  [
    "resized",
    { type: "event", channel: 3, event: { type: "resized", seq: 2, size: { rows: 1, cols: 2 } } },
    EVENT(`83 "type"="resized" "seq"=02 "size"=82 "rows"=01 "cols"=02`),
  ],
  [
    "exited",
    {
      type: "event",
      channel: 3,
      event: {
        type: "exited",
        seq: 3,
        exitCode: null,
        signal: "SIGKILL",
        result: "terminated",
        reason: "timeout",
        sandboxDenied: false,
      },
    },
    EVENT(`87 "type"="exited" "seq"=03 "exitCode"=c0 "signal"="SIGKILL" "result"="terminated" "reason"="timeout"
      "sandboxDenied"=c2`),
  ],
  [
    "closed",
    { type: "event", channel: 3, event: { type: "closed", seq: 2 ** 40, bytes: { stdout: 1, stderr: 0, pty: 0 } } },
    EVENT(`83 "type"="closed" "seq"=cb4270000000000000 "bytes"=83 "stdout"=01 "stderr"=00 "pty"=00`),
  ],
  [
    "exit said ahead",
    {
      type: "exit",
      channel: 3,
      event: {
        type: "exited",
        seq: 3,
        exitCode: 0,
        signal: null,
        result: "success",
        reason: "exited",
        sandboxDenied: false,
      },
    },
    `83 "type"="exit" "channel"=03 "event"=87 "type"="exited" "seq"=03 "exitCode"=00 "signal"=c0 "result"="success"
     "reason"="exited" "sandboxDenied"=c2`,
  ],
  [
    "gap",
    { type: "gap", channel: 3, gap: { type: "gap", firstSeq: 1, lastSeq: 9, bytes: 100 } },
    `83 "type"="gap" "channel"=03 "gap"=84 "type"="gap" "firstSeq"=01 "lastSeq"=09 "bytes"=64`,
  ],
  [
    "failed",
    { type: "failed", channel: 3, error: { code: "START_CANCELLED", message: "no" } },
    `83 "type"="failed" "channel"=03 "error"=82 "code"="START_CANCELLED" "message"="no"`,
  ],
  ["change", { type: "change", process }, `82 "type"="change" "process"=${PROCESS}`],
  [
    "networkRequest",
    {
      type: "networkRequest",
      id: 3,
      incarnation: "i",
      request: { processId: "p", protocol: "connect", host: "a.test", port: 443, method: "CONNECT" },
    },
    `84 "type"="networkRequest" "id"=03 "incarnation"="i" "request"=85 "processId"="p" "protocol"="connect" "host"="a.test" "port"=cd01bb "method"="CONNECT"`,
  ],
  ["networkRequestOver", { type: "networkRequestOver", id: 3 }, `82 "type"="networkRequestOver" "id"=03`],
  [
    "networkDecision",
    {
      type: "networkDecision",
      incarnation: "i",
      decision: {
        processId: "p",
        protocol: "socks5",
        host: "a.test",
        port: 22,
        time: 5,
        decision: "deny",
        source: "policy",
        reason: "denied",
      },
    },
    `83 "type"="networkDecision" "incarnation"="i" "decision"=88 "processId"="p" "protocol"="socks5" "host"="a.test" "port"=16 "time"=05 "decision"="deny" "source"="policy" "reason"="denied"`,
  ],
  ["ping", { type: "ping" }, `81 "type"="ping"`],
  ["pong", { type: "pong" }, `81 "type"="pong"`],
];

const hex = (frame: Uint8Array) => Buffer.from(frame).toString("hex");

/** With its byte strings as plain arrays, since a Buffer and a Uint8Array of the same bytes are equal here. */
function plain(value: unknown): unknown {
  if (value instanceof Uint8Array) return { bytes: [...value] };
  if (Array.isArray(value)) return value.map(plain);
  if (typeof value !== "object" || value === null) return value;
  return Object.fromEntries(Object.entries(value).map(([name, item]) => [name, plain(item)]));
}

describe.each([
  {
    end: "a client",
    messages: fromClient as [string, ClientMessage | ServerMessage, string][],
    check: checkClientMessage,
  },
  {
    end: "a server",
    messages: fromServer as [string, ClientMessage | ServerMessage, string][],
    check: checkServerMessage,
  },
])("what $end sends", ({ messages, check }) => {
  it.each(messages)("has exactly these bytes: %s", (_name, message, notation) => {
    expect(hex(encode(message))).toBe(bytes(notation));
  });

  it.each(messages)("is read back from them and accepted: %s", (_name, message, notation) => {
    const decoded = decode(Buffer.from(bytes(notation), "hex"));
    expect(plain(decoded)).toEqual(plain(message));
    expect(check(decoded)).toBeUndefined();
  });
});

describe("a frame shared by viewers", () => {
  it("has the bytes of an event message, with the chunk at its end", () => {
    for (const [, message] of fromServer) {
      if (message.type !== "event") continue;
      expect(hex(encodeEvent(message.channel, message.event))).toBe(hex(encode(message)));
    }
    const chunk = Buffer.from("the payload");
    const frame = encodeEvent(1, { type: "output", seq: 1, stream: "stdout", chunk });
    expect(Buffer.from(frame).subarray(-chunk.length)).toEqual(chunk);
  });
});
