// The state of a process as lists show it: what was requested, and its outcome so far.
import type { ExitedEvent, ExitReason, ProcessInfo, ProcessState } from "../../protocol/index.ts";
import type { LogView } from "../log/log-view.ts";
import type { Child, ExitStatus } from "../spawn/child.ts";
import { isSandboxDenied } from "./denial.ts";

/** The part of a process description that is fixed at its start. */
export type ProcessIdentity = Omit<ProcessInfo, "state" | "pid" | "exitCode" | "signal">;

/** Data that comes with a state change. */
export interface StateChange {
  readonly pid?: number;
  readonly exit?: ExitStatus;
  /** Appends the event to the log. */
  readonly record?: () => void;
}

/** Describes an exit for the log. The reason is that of an earlier termination request, if there was one. */
export function describeExit(
  { exitCode, signal }: ExitStatus,
  { reason: requested, child }: { readonly reason: ExitReason | undefined; readonly child: Child | undefined },
  { info, log }: { readonly info: ProcessInfo; readonly log: LogView },
): Omit<ExitedEvent, "type" | "seq"> {
  const result = requested ? "terminated" : exitCode === 0 ? "success" : "error";
  const reason = requested ?? (signal === null ? "exited" : "signal");
  const sandboxDenied = isSandboxDenied(info, exitCode, requested, log);
  return { exitCode, signal, result, reason, sandboxDenied, ...(child?.networkDenied && { networkDenied: true }) };
}

/** The state of one process; its description is rebuilt at each change. */
export class ProcessStatus {
  readonly #identity: ProcessIdentity;
  readonly #onChange: (info: ProcessInfo) => void;
  #pid: number | undefined;
  #exit: ExitStatus | undefined;
  #info: ProcessInfo;

  constructor(identity: ProcessIdentity, onChange: (info: ProcessInfo) => void) {
    this.#identity = identity;
    this.#onChange = onChange;
    this.#info = this.#describe("starting");
  }

  get state(): ProcessState {
    return this.#info.state;
  }

  /** Stays the same object until the next change. */
  get info(): ProcessInfo {
    return this.#info;
  }

  /** Updates the state before it records: a reader that the record wakes must find the new state. */
  become(state: ProcessState, { pid = this.#pid, exit = this.#exit, record }: StateChange = {}): void {
    this.#pid = pid;
    this.#exit = exit;
    this.#info = this.#describe(state);
    record?.();
    this.#onChange(this.#info);
  }

  /** Copies field by field: V8's spread takes a slow path (10 us each time), and each process is described five times. */
  #describe(state: ProcessState): ProcessInfo {
    const { processId, incarnation, argv, argvOmitted, cwd, tty, stdin, startedAt, sandbox, labels } = this.#identity;
    const exitCode = this.#exit?.exitCode ?? null;
    const signal = this.#exit?.signal ?? null;
    const info = { processId, incarnation, state, argv, cwd, tty, stdin, startedAt, exitCode, signal, sandbox, labels };
    if (argvOmitted) Object.assign(info, { argvOmitted });
    return Object.freeze(this.#pid === undefined ? info : Object.assign(info, { pid: this.#pid }));
  }
}
