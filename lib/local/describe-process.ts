// A process as lists show it: what was asked for, and what became of it.
import type { ProcessInfo, ProcessState } from "../../protocol/index.ts";
import type { ExitStatus } from "../spawn/child.ts";

/** The process as its start was asked for. */
export type Identity = Omit<ProcessInfo, "state" | "pid" | "exitCode" | "signal">;

/** What became of it so far. */
export interface Progress {
  readonly state: ProcessState;
  readonly pid: number | undefined;
  readonly exit: ExitStatus | undefined;
}

/** Field by field: V8 copies by spread on a slow path, 10 us each time, and each process is described five times. */
export function describeProcess(identity: Identity, { state, pid, exit }: Progress): ProcessInfo {
  const { processId, incarnation, argv, cwd, tty, stdin, startedAt, sandbox, labels } = identity;
  const exitCode = exit?.exitCode ?? null;
  const signal = exit?.signal ?? null;
  const info = { processId, incarnation, state, argv, cwd, tty, stdin, startedAt, exitCode, signal, sandbox, labels };
  return Object.freeze(pid === undefined ? info : Object.assign(info, { pid }));
}
