// The interface of a host of processes. A local supervisor, a remote server and a relay all implement it.
import type { Observable } from "rxjs";
import type { ProcessInfo, ProcessSpec } from "../../protocol/index.ts";
import type { Process } from "./process.ts";

/** How `close` ends the running processes. */
export interface CloseOptions {
  /** Milliseconds from SIGTERM to SIGKILL; 0 sends SIGKILL at once. Default: `limits.graceMs` of the host of the processes. */
  readonly graceMs?: number;
}

/** Options of a start that are not part of the spec. */
export interface StartOptions {
  /**
   * Idempotency key, a uuid: it becomes the incarnation, and a start repeated with it returns the same process. With another
   * spec the start is refused (INVALID_PARAMS). Default: a new uuid.
   */
  readonly incarnation?: string;
}

/** A host of processes. */
export interface Backend {
  /** Starts a process and resolves when its program runs. Rejects with one of the codes in `protocol/errors.ts`. */
  start(spec: ProcessSpec, options?: StartOptions): Promise<Process>;
  /** Returns the process with this id, also while it is starting and after it has closed. Rejects with PROCESS_UNKNOWN. */
  attach(processId: string): Promise<Process>;
  /** Every process that is not removed, in the order of their starts. */
  list(): Promise<readonly ProcessInfo[]>;
  /** State changes of every process. Hot: `list` has the states from before the subscription. */
  readonly changes$: Observable<ProcessInfo>;
  /**
   * Refuses new starts and ends the processes with their whole trees: a supervisor all of them, a client those of its session.
   * Resolves when they have closed or are given up.
   */
  close(options?: CloseOptions): Promise<void>;
}
