// What is left of a tree of processes, according to the operating system.
import { readdirSync, readFileSync } from "node:fs";
import { isAlive } from "./system-facts.ts";
import { settled } from "./system-wait.ts";

/** Waits until none of these runs any more. */
export async function allGone(...pids: readonly number[]): Promise<void> {
  const left = await settled(
    () => pids.filter(isAlive),
    (alive) => alive.length === 0,
  );
  if (left.length > 0) throw new Error(`still running: ${left.join(", ")}`);
}

/** Ends processes that a spec detached on purpose. */
export async function endDetached(...pids: readonly number[]): Promise<void> {
  for (const pid of pids) if (isAlive(pid)) process.kill(pid, "SIGKILL");
  await allGone(...pids);
}

/** Running processes whose command line contains `text`. */
export function findProcesses(text: string): number[] {
  const pids = readdirSync("/proc").filter((name) => /^\d+$/.test(name) && commandLine(name).includes(text));
  return pids.map(Number).filter(isAlive);
}

/** The numbers in a child's output, such as pids. */
export function numbersIn(text: string): number[] {
  return (text.match(/\d+/g) ?? []).map(Number);
}

function commandLine(pid: string): string {
  try {
    return readFileSync(`/proc/${pid}/cmdline`, "latin1");
  } catch {
    return "";
  }
}
