// Where processes come from. A local supervisor, a remote server and a relay offer the same interface.
import type { Observable } from "rxjs";
import type { ProcessInfo, ProcessSpec } from "../../protocol/index.ts";
import type { NetworkController } from "./network-controller.ts";
import type { Process } from "./process.ts";

/** How `close` ends processes that still run. */
export interface CloseOptions {
  /** Milliseconds from SIGTERM to SIGKILL; 0 sends SIGKILL at once. Default: `limits.graceMs` of the host of the processes. */
  readonly graceMs?: number;
}

/** Options of a start besides the spec. `onNetworkRequest` is asked instead of that of the backend. */
export interface StartOptions extends NetworkController {
  /**
   * Idempotency key, a uuid. It becomes the incarnation: repeating a start with the same key returns the same process; with
   * another spec it is refused (INVALID_PARAMS). Default: a new uuid.
   */
  readonly incarnation?: string;
  /** Rejects with its reason when it is aborted before the start is confirmed; the process, if it starts, is killed with its tree. */
  readonly signal?: AbortSignal;
}

/** A host of processes. */
export interface Backend {
  /** Starts a process and resolves once its program runs. Rejects with one of the codes in `protocol/errors.ts`. */
  start(spec: ProcessSpec, options?: StartOptions): Promise<Process>;
  /** The process with this id, also while it is starting or after it has closed. Rejects with PROCESS_UNKNOWN. */
  attach(processId: string): Promise<Process>;
  /** All processes that are not removed yet, in the order in which they were started. */
  list(): Promise<readonly ProcessInfo[]>;
  /** Each state change of any process. Hot: nothing is replayed; `list` has the current states. */
  readonly changes$: Observable<ProcessInfo>;
  /** Ends every process with its whole tree, waits until all have ended, and refuses new ones. */
  close(options?: CloseOptions): Promise<void>;
}
