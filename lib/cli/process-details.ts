// The details that `ps -v` shows below each row. They need one request per process, since the server inspects each one.
import type { Activity, PipeHolder, ProcessInfo } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Backend } from "../process/backend.ts";
import type { Process } from "../process/process.ts";

/** A process with its details; a field is absent where it does not apply or is not known. */
export interface DetailedInfo extends ProcessInfo {
  /** Of a running process. */
  readonly activity?: Activity;
  /** Of a process that exited and is not closed. */
  readonly holders?: readonly PipeHolder[];
}

/** Concurrent requests to the server; more would not be answered sooner. */
const CONCURRENCY = 32;

/** Adds details to each process. A process whose state changes meanwhile is shown as it was listed. */
export async function inspectAll(backend: Backend, processes: readonly ProcessInfo[]): Promise<DetailedInfo[]> {
  const details: DetailedInfo[] = [...processes];
  const rest = details.entries();
  const work = async () => {
    for (const [index, info] of rest) details[index] = await inspect(backend, info);
  };
  await Promise.all(Array.from({ length: CONCURRENCY }, work));
  return details;
}

async function inspect(backend: Backend, info: ProcessInfo): Promise<DetailedInfo> {
  if (info.state !== "running" && info.state !== "exited") return info;
  try {
    const process = await backend.attach(info.processId);
    if (process.incarnation !== info.incarnation) return info;
    return {
      ...info,
      ...(info.state === "running" ? await activityOf(process) : { holders: await process.holders() }),
    };
  } catch (error) {
    if (error instanceof ExecwireError && WITHOUT_DETAILS.has(error.code)) return info;
    throw error;
  }
}

/** The process was removed after it was listed, or the system does not support the request. */
const WITHOUT_DETAILS = new Set<string>(["PROCESS_UNKNOWN", "PROCESS_STARTING", "UNSUPPORTED"]);

async function activityOf(process: Process): Promise<Pick<DetailedInfo, "activity">> {
  const activity = await process.activity();
  return activity.state === "exited" ? {} : { activity };
}

/** The lines below the row of a process. */
export function detailLines({ state, pid, activity, holders, cwd, startedAt }: DetailedInfo): string[] {
  const lines: [label: string, text: string][] = [];
  if (state === "running") lines.push(["activity", activity ? describe(activity, pid) : "not known here"]);
  if (state === "exited") lines.push(...heldBy(holders));
  lines.push(["cwd", cwd], ["started", localTime(startedAt)]);
  return lines.map(([label, text]) => `    ${label.padEnd(8)}  ${text}`);
}

function describe(activity: Activity, pid: number | undefined): string {
  const { state } = activity;
  return activity.pid === undefined || activity.pid === pid ? state : `${state}  ${activity.pid} ${activity.command}`;
}

/** One line per holder. Without a bound, a whole tree left behind would fill the screen. */
const MAX_HOLDERS = 10;

function heldBy(holders: readonly PipeHolder[] | undefined): [string, string][] {
  if (!holders) return [["held by", "not known here"]];
  if (holders.length === 0) return [["held by", "no visible holder"]];
  const lines = holders.slice(0, MAX_HOLDERS).map((holder): [string, string] => {
    return ["held by", `${holder.pid} ${holder.streams.join(",")}  ${holder.command}`];
  });
  const more = holders.length - lines.length;
  return more > 0 ? [...lines, ["held by", `${more} more`]] : lines;
}

/** `2026-05-01 17:03:59`, in the time zone of this machine. */
function localTime(ms: number): string {
  const date = new Date(ms);
  const local = new Date(ms - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace("T", " ");
}
