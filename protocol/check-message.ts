// Checks a decoded message before anything acts on it. Its shape is checked here, the arguments of a method where they are
// used.
import { checkEvent, checkExit, checkGap, checkProcess, checkRead } from "./check-event.ts";
import { checkNetworkAnswer, checkNetworkDecision, checkNetworkRequest, checkNetworkWishes } from "./check-network.ts";
import { checkFlag, checkInteger, checkOneOf, checkText, ifPresent, isRecord, type Problem } from "./check-value.ts";
import { MAX_TIMER_MS, MAX_WINDOW_BYTES, MIN_FRAME_BYTES, MIN_PING_MS } from "./limits.ts";
import type { MethodName, Methods } from "./messages.ts";
import {
  checkGrace,
  checkReadOptions,
  checkSignal,
  checkSize,
  checkStart,
  checkTermination,
  checkWrite,
} from "./validate.ts";

const MAX = Number.MAX_SAFE_INTEGER;
const DELIVERIES = ["gap", "lossless"];

/** The problem of a client's message, if it is malformed: its connection must be closed. */
export function checkClientMessage(message: unknown): Problem | undefined {
  if (!isRecord(message)) return { field: "message", message: "must be a map" };
  switch (message.type) {
    case "hello":
      return checkHello(message);
    case "request":
      return (
        checkInteger("id", message.id, 1, MAX) ??
        checkIds("acked", message.acked) ??
        checkText("method", message.method, 64) ??
        (isRecord(message.params) ? undefined : { field: "params", message: "must be a map" })
      );
    case "ack":
      return checkInteger("channel", message.channel, 1, MAX) ?? checkInteger("seq", message.seq, 0, MAX);
    case "networkAnswer":
      return checkInteger("id", message.id, 1, MAX) ?? checkNetworkAnswer(message.answer);
    case "ping":
    case "pong":
      return undefined;
    default:
      return { field: "type", message: "is none of hello, request, ack, networkAnswer, ping, pong" };
  }
}

/** The problem of a server's message. Its content is trusted, its shape is not: the server may be another program. */
export function checkServerMessage(message: unknown): Problem | undefined {
  if (!isRecord(message)) return { field: "message", message: "must be a map" };
  switch (message.type) {
    case "welcome":
      return (
        checkInteger("version", message.version, 1, MAX) ??
        checkText("sessionId", message.sessionId) ??
        checkText("secret", message.secret) ??
        checkFlag("resumed", message.resumed) ??
        checkServerLimits(message.limits)
      );
    case "reply":
      return checkInteger("id", message.id, 1, MAX) ?? checkOutcome(message);
    case "event":
      return checkInteger("channel", message.channel, 1, MAX) ?? checkEvent(message.event);
    case "exit":
      return checkInteger("channel", message.channel, 1, MAX) ?? checkExit(message.event);
    case "gap":
      return checkInteger("channel", message.channel, 1, MAX) ?? checkGap(message.gap);
    case "failed":
      return checkInteger("channel", message.channel, 1, MAX) ?? checkError(message.error);
    case "change":
      return checkProcess(message.process);
    case "networkRequest":
      return (
        checkInteger("id", message.id, 1, MAX) ??
        checkText("incarnation", message.incarnation) ??
        checkNetworkRequest("request", message.request)
      );
    case "networkRequestOver":
      return checkInteger("id", message.id, 1, MAX);
    case "networkDecision":
      return checkText("incarnation", message.incarnation) ?? checkNetworkDecision(message.decision);
    default:
      // A later version of the same major may send more types; an unknown one is not needed.
      return typeof message.type === "string" ? undefined : { field: "type", message: "must be a string" };
  }
}

/** The problem of the params of a known method. */
export function checkParams(method: MethodName, params: Readonly<Record<string, unknown>>): Problem | undefined {
  return PARAMS[method](params);
}

/** The problem of the result of a method. Fields that a later version adds are accepted. */
export function checkResult(method: MethodName, result: Readonly<Record<string, unknown>>): Problem | undefined {
  return RESULTS[method](result);
}

/** Whether a server of this version knows the method. */
export function isMethod(method: string): method is MethodName {
  return Object.hasOwn(PARAMS, method);
}

type Check = (params: Readonly<Record<string, unknown>>) => Problem | undefined;

const none: Check = () => undefined;
const address: Check = ({ processId, incarnation }) =>
  checkText("processId", processId) ?? checkText("incarnation", incarnation);

const PARAMS: { readonly [M in keyof Methods]: Check } = {
  "process/start": ({ spec, incarnation, subscribe, network }) =>
    checkStart(spec, incarnation) ??
    ifPresent(subscribe, (mode) => checkOneOf("subscribe", mode, DELIVERIES)) ??
    ifPresent(network, checkNetworkWishes),
  "process/attach": ({ processId }) => checkText("processId", processId),
  "process/list": ({ limit, after }) =>
    ifPresent(limit, (count) => checkInteger("limit", count, 1, MAX)) ??
    ifPresent(after, (place) => checkText("after", place, 128)),
  "process/subscribe": (params) =>
    address(params) ??
    checkInteger("afterSeq", params.afterSeq, 0, MAX) ??
    checkOneOf("delivery", params.delivery, DELIVERIES) ??
    ifPresent(params.acked, (seq) => checkInteger("acked", seq, 0, MAX)),
  "process/unsubscribe": address,
  "process/read": (params) => address(params) ?? checkReadOptions(params),
  "process/write": (params) => address(params) ?? checkWrite(params),
  "process/closeStdin": address,
  "process/signal": (params) => address(params) ?? checkSignal(params),
  "process/resize": (params) => address(params) ?? checkSize(params.size),
  "process/terminate": (params) => address(params) ?? checkTermination(params),
  "process/holders": address,
  "process/activity": address,
  "changes/watch": none,
  "session/close": checkGrace,
};

const status: Check = (result) => checkText("status", result.status);
const channel: Check = (result) => checkInteger("channel", result.channel, 1, MAX);

const RESULTS: { readonly [M in keyof Methods]: Check } = {
  "process/start": (result) => checkProcess(result.process) ?? ifPresent(result.channel, () => channel(result)),
  "process/attach": (result) => checkProcess(result.process),
  "process/list": ({ processes, next }) =>
    checkEach("processes", processes, checkProcess) ?? ifPresent(next, (place) => checkText("next", place, 128)),
  "process/subscribe": channel,
  "process/unsubscribe": none,
  "process/read": checkRead,
  "process/write": status,
  "process/closeStdin": status,
  "process/signal": none,
  "process/resize": none,
  "process/terminate": (result) => checkFlag("running", result.running),
  "process/holders": (result) => checkEach("holders", result.holders, checkHolder),
  "process/activity": ({ activity }) =>
    isRecord(activity) ? checkText("activity.state", activity.state) : { field: "activity", message: "must be a map" },
  "changes/watch": none,
  "session/close": none,
};

function checkHolder(holder: unknown): Problem | undefined {
  if (!isRecord(holder)) return { field: "holders", message: "must be maps" };
  return (
    checkInteger("holders.pid", holder.pid, 1, MAX) ??
    checkText("holders.command", holder.command) ??
    checkEach("holders.streams", holder.streams, (stream) => checkText("holders.streams", stream))
  );
}

function checkEach(field: string, items: unknown, check: (item: unknown) => Problem | undefined): Problem | undefined {
  if (!Array.isArray(items)) return { field, message: "must be an array" };
  for (const item of items) {
    const wrong = check(item);
    if (wrong) return wrong;
  }
  return undefined;
}

function checkHello({ version, token, resume }: Record<string, unknown>): Problem | undefined {
  const wrong = checkInteger("version", version, 1, MAX) ?? ifPresent(token, (text) => checkText("token", text, 4096));
  if (wrong || resume === undefined) return wrong;
  if (!isRecord(resume)) return { field: "resume", message: "must be a map" };
  return (
    checkText("resume.sessionId", resume.sessionId, 64) ??
    checkText("resume.secret", resume.secret, 128) ??
    checkIds("resume.pending", resume.pending)
  );
}

function checkIds(field: string, ids: unknown): Problem | undefined {
  if (!Array.isArray(ids)) return { field, message: "must be an array of request ids" };
  for (const id of ids) {
    const wrong = checkInteger(field, id, 1, MAX);
    if (wrong) return wrong;
  }
  return undefined;
}

/** A reply has a result, which is a map, or an error. */
function checkOutcome({ result, error }: Record<string, unknown>): Problem | undefined {
  if (error !== undefined) return checkError(error);
  return isRecord(result) ? undefined : { field: "result", message: "must be a map" };
}

function checkError(error: unknown): Problem | undefined {
  if (!isRecord(error)) return { field: "error", message: "must be a map" };
  const { code, message, data } = error;
  if (typeof code !== "string" || !/^[A-Z][A-Z_]{0,63}$/.test(code)) {
    return { field: "error.code", message: "must be a code in capital letters" };
  }
  if (typeof message !== "string") return { field: "error.message", message: "must be a string" };
  return ifPresent(data, checkErrorData);
}

/** Error data is flat, so that no code has to look deeper. */
function checkErrorData(data: unknown): Problem | undefined {
  if (!isRecord(data)) return { field: "error.data", message: "must be a map" };
  const invalid = Object.values(data).find((fact) => !["string", "number", "boolean"].includes(typeof fact));
  return invalid === undefined
    ? undefined
    : { field: "error.data", message: "must hold only strings, numbers and booleans" };
}

function checkServerLimits(serverLimits: unknown): Problem | undefined {
  if (!isRecord(serverLimits)) return { field: "limits", message: "must be a map" };
  return (
    checkInteger("limits.sessionTtlMs", serverLimits.sessionTtlMs, 0, MAX) ??
    checkInteger("limits.pingMs", serverLimits.pingMs, MIN_PING_MS, MAX_TIMER_MS) ??
    checkInteger("limits.frameBytes", serverLimits.frameBytes, MIN_FRAME_BYTES, MAX) ??
    checkInteger("limits.windowBytes", serverLimits.windowBytes, 1, MAX_WINDOW_BYTES)
  );
}
