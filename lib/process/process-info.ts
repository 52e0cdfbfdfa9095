// What the description of a process may hold, and what it costs: it is kept for each process, listed together with all others,
// and sent to every viewer at every change.
import {
  type ArgvOmitted,
  type Limits,
  type ProcessInfo,
  type ProcessSpec,
  present,
  utf8Bytes,
  utf8Prefix,
} from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";

/** Bounds of a description. */
export type InfoLimits = Pick<Limits, "labels" | "labelBytes" | "pathBytes" | "infoArgvBytes">;

/** Names of the fields, numbers, flags and the state, encoded; rounded up. */
const FIXED_BYTES = 300;
/** What stands before a text on the wire, at most. */
const TEXT_HEAD_BYTES = 5;
/** What a text costs in memory beside its characters, which have two bytes when one of them is not Latin-1. */
const TEXT_OVERHEAD_BYTES = 32;

/** Throws LIMIT_EXCEEDED for a spec whose process could not be described within the bounds. Nothing was started yet. */
export function checkDescribable({ labels = {}, cwd = "" }: ProcessSpec, limits: InfoLimits): void {
  const entries = Object.entries(labels);
  if (entries.length > limits.labels)
    throw exceeded("labels", `${entries.length} labels; at most ${limits.labels} are kept`);
  let bytes = 0;
  for (const [name, value] of entries) bytes += utf8Bytes(name) + utf8Bytes(value);
  if (bytes > limits.labelBytes) {
    throw exceeded(
      "labelBytes",
      `labels of ${bytes} bytes; names and values have at most ${limits.labelBytes} together`,
    );
  }
  const pathBytes = utf8Bytes(cwd);
  if (pathBytes > limits.pathBytes) {
    throw exceeded("pathBytes", `cwd has ${pathBytes} bytes, a path has at most ${limits.pathBytes}`);
  }
}

/** The arguments as a description shows them: the first that fit, and what is left out. */
export function describeArgv(argv: readonly string[], maxBytes: number): Pick<ProcessInfo, "argv" | "argvOmitted"> {
  const shown: string[] = [];
  let rest = maxBytes;
  let cut = 0;
  for (const argument of argv) {
    const part = utf8Prefix(argument, Math.max(0, rest - TEXT_HEAD_BYTES));
    // Of an argument that does not fit at all nothing is shown, but of the program at least its place.
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

/** Bytes of a description on the wire, at most. */
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

/** Bytes of memory that the texts of a description take. */
export function infoCost({ processId, incarnation, cwd, argv, labels }: ProcessInfo): number {
  const texts = [processId, incarnation, cwd, ...argv, ...Object.entries(labels).flat()];
  return texts.reduce((sum, text) => sum + text.length * 2 + TEXT_OVERHEAD_BYTES, 0);
}

/** The description within so many bytes on the wire: with fewer arguments, or without labels where that is not enough. It says so. */
export function fitInfo(info: ProcessInfo, maxBytes: number, bytes: number = infoBytes(info)): ProcessInfo {
  if (bytes <= maxBytes) return info;
  const argvBytes = info.argv.reduce((sum, argument) => sum + textBytes(argument), 0);
  const room = maxBytes - (bytes - argvBytes);
  // The program at least has its place.
  if (room >= TEXT_HEAD_BYTES) return withFewerArguments(info, room);
  const labelsOmitted = (info.labelsOmitted ?? 0) + Object.keys(info.labels).length;
  const bare = present({ ...info, labels: {}, labelsOmitted: labelsOmitted || undefined });
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
