// Facts about processes, read from /proc by the specs themselves, since they check what lib reads there.
import { readdirSync, readFileSync } from "node:fs";
import { constants } from "node:os";

/** Number of descriptors of this program. */
export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Number of threads of this program. */
export function threads(): number {
  return readdirSync("/proc/self/task").length;
}

/** State letter of a process (`Z` is a zombie); undefined if there is no process with that pid. */
export function stateOf(pid: number): string | undefined {
  return statusOf(pid, "State");
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  return ![undefined, "Z", "X"].includes(stateOf(pid));
}

/** Whether a signal is pending for a process; two pending ones with the same number are merged. */
export function isPending(pid: number, signal: NodeJS.Signals): boolean {
  const mask = statusOf(pid, "ShdPnd") ?? "0";
  return ((BigInt(`0x${mask}`) >> BigInt(constants.signals[signal] - 1)) & 1n) === 1n;
}

/** Pids of the children of a process, zombies included. */
export function childrenOf(parent: number): number[] {
  return readdirSync("/proc")
    .filter((name) => /^\d+$/.test(name))
    .map(Number)
    .filter((pid) => parentOf(pid) === parent);
}

/** Our own children that ended and were not reaped. */
export function zombies(): number[] {
  return childrenOf(process.pid).filter((pid) => stateOf(pid) === "Z");
}

function parentOf(pid: number): number | undefined {
  const parent = statusOf(pid, "PPid");
  return parent === undefined ? undefined : Number(parent);
}

/** The first word of a field of a process's status; undefined if there is no process with that pid. */
function statusOf(pid: number, field: string): string | undefined {
  try {
    return new RegExp(`^${field}:\\s+(\\S+)`, "m").exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  } catch {
    return undefined;
  }
}
