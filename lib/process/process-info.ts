// Limits the size of a process description and computes its cost. A description is kept for each process, listed together with
// all others, and sent to every viewer at every change.
import {
  type ArgvOmitted,
  type Limits,
  type ProcessInfo,
  type ProcessSpec,
  present,
  toWellFormed,
  utf8Bytes,
  utf8Prefix,
} from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";

/** Limits of a description. */
export type InfoLimits = Pick<Limits, "labels" | "labelBytes" | "pathBytes" | "infoArgvBytes">;

/** Encoded size of field names, numbers, flags and the state, rounded up. */
const FIXED_BYTES = 300;
/** Largest header of a string on the wire. */
const TEXT_HEAD_BYTES = 5;
/** Memory overhead of a string. Each of its characters takes two bytes if any of them is not Latin-1. */
const TEXT_OVERHEAD_BYTES = 32;

/** Throws LIMIT_EXCEEDED for a spec whose process could not be described within the limits. Called before anything is started. */
export function checkDescribable({ labels = {}, cwd = "" }: ProcessSpec, limits: InfoLimits): void {
  const entries = Object.entries(labels);
  if (entries.length > limits.labels)
    throw exceeded("labels", `${entries.length} labels; at most ${limits.labels} are allowed`);
  let bytes = 0;
  for (const [name, value] of entries) bytes += utf8Bytes(name) + utf8Bytes(value);
  if (bytes > limits.labelBytes) {
    throw exceeded(
      "labelBytes",
      `labels of ${bytes} bytes; at most ${limits.labelBytes} are allowed, names and values together`,
    );
  }
  const pathBytes = utf8Bytes(cwd);
  if (pathBytes > limits.pathBytes) {
    throw exceeded("pathBytes", `cwd of ${pathBytes} bytes; at most ${limits.pathBytes} are allowed`);
  }
}

/** The part of a description that is fixed at the start; what changes later is added to it. */
export function describeStart(
  { argv, tty, pipeStdin, labels }: ProcessSpec,
  names: Pick<ProcessInfo, "processId" | "incarnation">,
  place: Pick<ProcessInfo, "cwd" | "startedAt">,
  limits: InfoLimits,
): Omit<ProcessInfo, "state" | "pid" | "exitCode" | "signal" | "sandbox"> {
  return {
    ...names,
    ...describeArgv(argv.map(toWellFormed), limits.infoArgvBytes),
    ...place,
    cwd: toWellFormed(place.cwd),
    tty: Boolean(tty),
    stdin: Boolean(tty || pipeStdin),
    labels: Object.freeze({ ...labels }),
  };
}

/** The arguments as a description shows them: as many as fit, from the first on, and a count of the rest. */
export function describeArgv(argv: readonly string[], maxBytes: number): Pick<ProcessInfo, "argv" | "argvOmitted"> {
  const shown: string[] = [];
  let rest = maxBytes;
  let cut = 0;
  for (const argument of argv) {
    if (rest < TEXT_HEAD_BYTES && shown.length > 0) break;
    const part = utf8Prefix(argument, Math.max(0, rest - TEXT_HEAD_BYTES));
    // An argument of which nothing fits is left out, except for the program, which always keeps its place.
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

/** Upper bound of a description's size on the wire, in bytes. */
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

/** Bytes of memory for the strings of a description. */
export function infoCost({ processId, incarnation, cwd, argv, labels }: ProcessInfo): number {
  const texts = [processId, incarnation, cwd, ...argv, ...Object.entries(labels).flat()];
  return texts.reduce((sum, text) => sum + text.length * 2 + TEXT_OVERHEAD_BYTES, 0);
}

/**
 * The description, reduced to `maxBytes` on the wire: with fewer arguments, and without labels where that is not enough. It
 * counts what was left out.
 */
export function fitInfo(info: ProcessInfo, maxBytes: number, bytes: number = infoBytes(info)): ProcessInfo {
  if (bytes <= maxBytes) return info;
  const argvBytes = info.argv.reduce((sum, argument) => sum + textBytes(argument), 0);
  const room = maxBytes - (bytes - argvBytes);
  // There is room for at least the program's place.
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
