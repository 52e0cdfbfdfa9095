// A process as lists show it: what was asked for, and what became of it so far.
import type { ExitedEvent, ExitReason, ProcessInfo, ProcessState } from "../../protocol/index.ts";
import type { ExitStatus } from "../spawn/child.ts";

/** The process as its start was asked for. */
export type Identity = Omit<ProcessInfo, "state" | "pid" | "exitCode" | "signal">;

/** What a change of state brings with it. */
export interface Change {
  readonly pid?: number;
  readonly exit?: ExitStatus;
  /** Puts it into the log. */
  readonly record?: () => void;
}

/** An exit as the log has it. `requested`: why a termination was asked for before, if it was. */
export function describeExit(
  { exitCode, signal }: ExitStatus,
  requested?: ExitReason,
): Omit<ExitedEvent, "type" | "seq"> {
  const result = requested ? "terminated" : exitCode === 0 ? "success" : "error";
  const reason = requested ?? (signal === null ? "exited" : "signal");
  return { exitCode, signal, result, reason, sandboxDenied: false };
}

/** The state of one process, described anew when it changes. */
export class ProcessStatus {
  readonly #identity: Identity;
  readonly #onChange: (info: ProcessInfo) => void;
  #pid: number | undefined;
  #exit: ExitStatus | undefined;
  #info: ProcessInfo;

  constructor(identity: Identity, onChange: (info: ProcessInfo) => void) {
    this.#identity = identity;
    this.#onChange = onChange;
    this.#info = this.#describe("starting");
  }

  get state(): ProcessState {
    return this.#info.state;
  }

  /** The same object until the next change. */
  get info(): ProcessInfo {
    return this.#info;
  }

  /** Who is woken by what is recorded finds the state that it tells of. */
  become(state: ProcessState, { pid = this.#pid, exit = this.#exit, record }: Change = {}): void {
    this.#pid = pid;
    this.#exit = exit;
    this.#info = this.#describe(state);
    record?.();
    this.#onChange(this.#info);
  }

  /** Field by field: V8 copies by spread on a slow path, 10 us each time, and each process is described five times. */
  #describe(state: ProcessState): ProcessInfo {
    const { processId, incarnation, argv, argvOmitted, cwd, tty, stdin, startedAt, sandbox, labels } = this.#identity;
    const exitCode = this.#exit?.exitCode ?? null;
    const signal = this.#exit?.signal ?? null;
    const info = { processId, incarnation, state, argv, cwd, tty, stdin, startedAt, exitCode, signal, sandbox, labels };
    if (argvOmitted) Object.assign(info, { argvOmitted });
    return Object.freeze(this.#pid === undefined ? info : Object.assign(info, { pid: this.#pid }));
  }
}
