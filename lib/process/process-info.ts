// Bounds and costs of a process's info, which is kept for each process, listed together with all others, and sent to every
// viewer at every state change.
import {
  type ArgvOmitted,
  type Limits,
  type ProcessInfo,
  type ProcessSpec,
  utf8Bytes,
  utf8Prefix,
} from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";

/** Bounds of an info. */
export type InfoLimits = Pick<Limits, "labels" | "labelBytes" | "pathBytes" | "infoArgvBytes">;

/** Encoded field names, numbers, flags and state, in bytes; rounded up. */
const FIXED_BYTES = 300;
/** Longest header of a string in msgpack. */
const TEXT_HEAD_BYTES = 5;
/** Memory of a string without its characters, which take two bytes each unless all of them are Latin-1. */
const TEXT_OVERHEAD_BYTES = 32;

/** Throws LIMIT_EXCEEDED for a spec with too many or too large labels, or too long a working directory. */
export function checkDescribable({ labels = {}, cwd = "" }: ProcessSpec, limits: InfoLimits): void {
  const entries = Object.entries(labels);
  if (entries.length > limits.labels)
    throw exceeded("labels", `the process has ${entries.length} labels, the limit labels is ${limits.labels}`);
  let bytes = 0;
  for (const [name, value] of entries) bytes += utf8Bytes(name) + utf8Bytes(value);
  if (bytes > limits.labelBytes) {
    throw exceeded(
      "labelBytes",
      `names and values of the labels have ${bytes} bytes, the limit labelBytes is ${limits.labelBytes}`,
    );
  }
  const pathBytes = utf8Bytes(cwd);
  if (pathBytes > limits.pathBytes) {
    throw exceeded("pathBytes", `cwd has ${pathBytes} bytes, the limit pathBytes is ${limits.pathBytes}`);
  }
}

/** The part of the info that is known at the start and never changes. */
export function describeStart(
  { argv, tty, pipeStdin, labels }: ProcessSpec,
  names: Pick<ProcessInfo, "processId" | "incarnation">,
  place: Pick<ProcessInfo, "cwd" | "startedAt">,
  limits: InfoLimits,
): Omit<ProcessInfo, "state" | "pid" | "exitCode" | "signal" | "sandbox"> {
  return {
    ...names,
    ...describeArgv(argv, limits.infoArgvBytes),
    ...place,
    tty: Boolean(tty),
    stdin: Boolean(tty || pipeStdin),
    labels: Object.freeze({ ...labels }),
  };
}

/** The first arguments that fit into `maxBytes`, and the number and bytes of the omitted ones. */
export function describeArgv(argv: readonly string[], maxBytes: number): Pick<ProcessInfo, "argv" | "argvOmitted"> {
  const shown: string[] = [];
  let rest = maxBytes;
  let cut = 0;
  for (const argument of argv) {
    const part = utf8Prefix(argument, Math.max(0, rest - TEXT_HEAD_BYTES));
    // An argument of which no byte fits is omitted; the program, the first one, stays as an empty string.
    if (part === "" && argument !== "" && shown.length > 0) break;
    shown.push(part);
    rest -= textBytes(part);
    if (part.length === argument.length && rest > 0) continue;
    cut = utf8Bytes(argument.slice(part.length));
    break;
  }
  const left = argv.slice(shown.length);
  if (left.length === 0 && cut === 0) return { argv: Object.freeze([...argv]) };
  const bytes = left.reduce((sum, argument) => sum + utf8Bytes(argument), cut);
  const argvOmitted: ArgvOmitted = Object.freeze({ arguments: left.length, bytes });
  return { argv: Object.freeze(shown), argvOmitted };
}

/** Upper bound of the bytes of an info on the wire. */
export function infoBytes({ processId, incarnation, cwd, signal, sandbox, argv, labels }: ProcessInfo): number {
  let bytes = FIXED_BYTES + textBytes(processId) + textBytes(incarnation) + textBytes(cwd) + textBytes(sandbox);
  if (signal !== null) bytes += textBytes(signal);
  for (const argument of argv) bytes += textBytes(argument);
  for (const name of Object.keys(labels)) bytes += textBytes(name) + textBytes(labels[name] ?? "");
  return bytes;
}

function textBytes(text: string): number {
  return utf8Bytes(text) + TEXT_HEAD_BYTES;
}

/** Bytes of memory of the strings of an info. */
export function infoCost({ processId, incarnation, cwd, argv, labels }: ProcessInfo): number {
  const texts = [processId, incarnation, cwd, ...argv, ...Object.entries(labels).flat()];
  return texts.reduce((sum, text) => sum + text.length * 2 + TEXT_OVERHEAD_BYTES, 0);
}

/** Fits the info into `maxBytes` on the wire: omits arguments, and labels if that is not enough. The info counts them. */
export function fitInfo(info: ProcessInfo, maxBytes: number, bytes: number = infoBytes(info)): ProcessInfo {
  if (bytes <= maxBytes) return info;
  const argvBytes = info.argv.reduce((sum, argument) => sum + textBytes(argument), 0);
  const room = maxBytes - (bytes - argvBytes);
  // At least the program stays, as an empty string.
  if (room >= TEXT_HEAD_BYTES) return withFewerArguments(info, room);
  const labelsOmitted = (info.labelsOmitted ?? 0) + Object.keys(info.labels).length;
  const bare = { ...info, labels: {}, ...(labelsOmitted > 0 && { labelsOmitted }) };
  const roomWithoutLabels = maxBytes - (infoBytes(bare) - argvBytes);
  return roomWithoutLabels >= argvBytes ? bare : withFewerArguments(bare, Math.max(0, roomWithoutLabels));
}

function withFewerArguments(info: ProcessInfo, maxBytes: number): ProcessInfo {
  const { argvOmitted: before } = info;
  const { argv, argvOmitted: now } = describeArgv(info.argv, maxBytes);
  const omitted = {
    arguments: (before?.arguments ?? 0) + (now?.arguments ?? 0),
    bytes: (before?.bytes ?? 0) + (now?.bytes ?? 0),
  };
  return { ...info, argv, argvOmitted: omitted };
}

function exceeded(limit: keyof InfoLimits, message: string): ExecwireError {
  return new ExecwireError("LIMIT_EXCEEDED", message, { data: { limit } });
}
