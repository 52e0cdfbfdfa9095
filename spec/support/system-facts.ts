// Facts about processes, read from /proc by the specs themselves: what lib reads there is what they are to check.
import { readdirSync, readFileSync } from "node:fs";

/** Number of descriptors this program holds. */
export function openDescriptors(): number {
  return readdirSync("/proc/self/fd").length;
}

/** Number of threads of this program. */
export function threads(): number {
  return readdirSync("/proc/self/task").length;
}

/** State letter of a process (`Z` is a zombie); undefined when there is none of that pid. */
export function stateOf(pid: number): string | undefined {
  try {
    return /^State:\s+(\S)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1];
  } catch {
    return undefined;
  }
}

/** Whether a process runs; a zombie does not. */
export function isAlive(pid: number): boolean {
  return ![undefined, "Z", "X"].includes(stateOf(pid));
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
  try {
    return Number(/^PPid:\s+(\d+)/m.exec(readFileSync(`/proc/${pid}/status`, "latin1"))?.[1]);
  } catch {
    return undefined;
  }
}
