// What `ps -v` says of a process beside its row: asked of the server process by process, since each answer takes a look.
import type { Activity, PipeHolder, ProcessInfo } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Backend } from "../process/backend.ts";
import type { Process } from "../process/process.ts";

/** A process with what was found out about it; a field is absent where it does not apply or cannot be told. */
export interface DetailedInfo extends ProcessInfo {
  /** Of one that runs. */
  readonly activity?: Activity;
  /** Of one that exited and is not closed. */
  readonly holders?: readonly PipeHolder[];
}

/** Questions to the server that are on their way at a time: more would not be answered sooner. */
const AT_ONCE = 32;

/** Looks at each of them. What changes its state meanwhile is shown as it was listed. */
export async function lookAt(backend: Backend, processes: readonly ProcessInfo[]): Promise<DetailedInfo[]> {
  const details: DetailedInfo[] = [...processes];
  const rest = details.entries();
  const work = async () => {
    for (const [index, info] of rest) details[index] = await look(backend, info);
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return details;
}

async function look(backend: Backend, info: ProcessInfo): Promise<DetailedInfo> {
  if (info.state !== "running" && info.state !== "exited") return info;
  try {
    const process = await backend.attach(info.processId);
    if (process.incarnation !== info.incarnation) return info;
    return {
      ...info,
      ...(info.state === "running" ? await activityOf(process) : { holders: await process.holders() }),
    };
  } catch (error) {
    if (error instanceof ExecwireError && CANNOT_TELL.has(error.code)) return info;
    throw error;
  }
}

/** It may have been removed since it was listed, or the system does not tell. */
const CANNOT_TELL = new Set<string>(["PROCESS_UNKNOWN", "PROCESS_STARTING", "UNSUPPORTED"]);

async function activityOf(process: Process): Promise<Pick<DetailedInfo, "activity">> {
  const activity = await process.activity();
  return activity.state === "exited" ? {} : { activity };
}

/** Lines that follow its row. */
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

/** One line a holder; it would take all the screen where a whole tree was left behind. */
const MAX_HOLDERS = 10;

function heldBy(holders: readonly PipeHolder[] | undefined): [string, string][] {
  if (!holders) return [["held by", "not known here"]];
  if (holders.length === 0) return [["held by", "nobody that may be looked into"]];
  const lines = holders.slice(0, MAX_HOLDERS).map((holder): [string, string] => {
    return ["held by", `${holder.pid} ${holder.streams.join(",")}  ${holder.command}`];
  });
  const more = holders.length - lines.length;
  return more > 0 ? [...lines, ["held by", `${more} more`]] : lines;
}

/** `2026-05-01 17:03:59`, as this machine's clock shows it. */
function localTime(ms: number): string {
  const date = new Date(ms);
  const local = new Date(ms - date.getTimezoneOffset() * 60_000);
  return local.toISOString().slice(0, 19).replace("T", " ");
}
