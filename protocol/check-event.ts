// Checks what a server sends about a process. Readers decide by these fields, so a field that is missing or has the wrong type
// must not pass as a value: a missing exit code is not success. Fields that this version does not know are accepted.
import {
  checkFlag,
  checkInteger,
  checkOneOf,
  checkText,
  checkTextList,
  checkTextMap,
  ifPresent,
  isRecord,
  type Problem,
} from "./check-value.ts";
import { checkSize } from "./validate.ts";

const MAX = Number.MAX_SAFE_INTEGER;
/** The largest time of a Date, in milliseconds. */
const MAX_TIME = 8.64e15;
/** Exit codes have 8 bits on POSIX and 32 on Windows, where some hosts read them as signed. */
const [MIN_EXIT_CODE, MAX_EXIT_CODE] = [-(2 ** 31), 2 ** 32 - 1];
const MAX_SIGNAL_CHARS = 32;
const STREAMS = ["stdout", "stderr", "pty"];
const TYPES = ["output", "resized", "exited", "closed"];

/** The problem of an event, if any. Seqs must be consecutive, so an event of unknown type cannot be skipped. */
export function checkEvent(event: unknown): Problem | undefined {
  if (!isRecord(event)) return { field: "event", message: "must be a map" };
  const wrong = checkInteger("event.seq", event.seq, 1, MAX);
  if (wrong) return wrong;
  switch (event.type) {
    case "output":
      return checkOutput("event", event);
    case "resized":
      return checkSize(event.size);
    case "exited":
      return checkExited(event);
    case "closed":
      return checkBytes(event.bytes);
    default:
      return checkOneOf("event.type", event.type, TYPES);
  }
}

/** The problem of an exit that is announced ahead of its turn. */
export function checkExit(event: unknown): Problem | undefined {
  return checkEvent(event) ?? checkOneOf("event.type", (event as { type: string }).type, ["exited"]);
}

/** The problem of a gap. */
export function checkGap(gap: unknown): Problem | undefined {
  if (!isRecord(gap)) return { field: "gap", message: "must be a map" };
  return (
    checkInteger("gap.firstSeq", gap.firstSeq, 1, MAX) ??
    checkInteger("gap.lastSeq", gap.lastSeq, gap.firstSeq as number, MAX) ??
    ifPresent(gap.bytes, (bytes) => checkInteger("gap.bytes", bytes, 0, MAX)) ??
    ifPresent(gap.endOffset, (offset) => checkInteger("gap.endOffset", offset, 0, MAX))
  );
}

/** The problem of a process description. */
export function checkProcess(process: unknown): Problem | undefined {
  if (!isRecord(process)) return { field: "process", message: "must be a map" };
  return (
    checkText("process.processId", process.processId) ??
    checkText("process.incarnation", process.incarnation) ??
    checkText("process.state", process.state) ??
    checkStatus("process", process) ??
    checkTextList("process.argv", process.argv) ??
    checkText("process.cwd", process.cwd) ??
    checkFlag("process.tty", process.tty) ??
    checkFlag("process.stdin", process.stdin) ??
    ifPresent(process.pid, (pid) => checkInteger("process.pid", pid, 1, MAX)) ??
    checkInteger("process.startedAt", process.startedAt, -MAX_TIME, MAX_TIME) ??
    checkText("process.sandbox", process.sandbox) ??
    checkTextMap("process.labels", process.labels) ??
    ifPresent(process.argvOmitted, checkOmitted) ??
    ifPresent(process.labelsOmitted, (count) => checkInteger("process.labelsOmitted", count, 0, MAX))
  );
}

function checkOmitted(omitted: unknown): Problem | undefined {
  if (!isRecord(omitted)) return { field: "process.argvOmitted", message: "must be a map" };
  return (
    checkInteger("process.argvOmitted.arguments", omitted.arguments, 0, MAX) ??
    checkInteger("process.argvOmitted.bytes", omitted.bytes, 0, MAX)
  );
}

/** The problem of the result of a read. */
export function checkRead(result: Record<string, unknown>): Problem | undefined {
  const { chunks } = result;
  if (!Array.isArray(chunks)) return { field: "chunks", message: "must be an array" };
  for (const chunk of chunks) {
    const wrong = isRecord(chunk) ? checkOutput("chunks", chunk) : { field: "chunks", message: "must be maps" };
    if (wrong) return wrong;
  }
  return (
    checkInteger("nextSeq", result.nextSeq, 1, MAX) ??
    ifPresent(result.gap, checkGap) ??
    checkFlag("exited", result.exited) ??
    checkFlag("closed", result.closed) ??
    checkStatus("result", result)
  );
}

function checkOutput(field: string, { seq, stream, chunk }: Record<string, unknown>): Problem | undefined {
  if (!(chunk instanceof Uint8Array) || chunk.length === 0)
    return { field: `${field}.chunk`, message: "must be bytes" };
  return checkInteger(`${field}.seq`, seq, 1, MAX) ?? checkOneOf(`${field}.stream`, stream, STREAMS);
}

function checkExited(event: Record<string, unknown>): Problem | undefined {
  return (
    checkStatus("event", event) ??
    checkText("event.result", event.result) ??
    checkText("event.reason", event.reason) ??
    checkFlag("event.sandboxDenied", event.sandboxDenied) ??
    ifPresent(event.networkDenied, (flag) => checkFlag("event.networkDenied", flag))
  );
}

/** At most one of `exitCode` and `signal` is known. The unknown one is null, never absent. */
function checkStatus(field: string, { exitCode, signal }: Record<string, unknown>): Problem | undefined {
  if (exitCode === null) return signal === null ? undefined : checkSignalName(`${field}.signal`, signal);
  return (
    checkInteger(`${field}.exitCode`, exitCode, MIN_EXIT_CODE, MAX_EXIT_CODE) ??
    (signal === null ? undefined : { field: `${field}.signal`, message: "must be null when there is an exit code" })
  );
}

/** Accepts signal names of any system, and nothing else. */
function checkSignalName(field: string, signal: unknown): Problem | undefined {
  const wrong = checkText(field, signal, MAX_SIGNAL_CHARS);
  if (wrong || /^SIG[A-Z0-9+-]+$/.test(signal as string)) return wrong;
  return { field, message: "must be the name of a signal" };
}

function checkBytes(bytes: unknown): Problem | undefined {
  if (!isRecord(bytes)) return { field: "event.bytes", message: "must be a map" };
  for (const stream of STREAMS) {
    const wrong = checkInteger(`event.bytes.${stream}`, bytes[stream], 0, MAX);
    if (wrong) return wrong;
  }
  return undefined;
}
