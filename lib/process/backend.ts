// Where processes come from. The local supervisor, a remote server and a relay are the same to their users.
import type { Observable } from "rxjs";
import type { ProcessInfo, ProcessSpec } from "../../protocol/index.ts";
import type { Process } from "./process.ts";

/** How `close` ends what still runs. */
export interface CloseOptions {
  /** Milliseconds from SIGTERM to SIGKILL; 0 sends SIGKILL at once. Default: `limits.graceMs`. */
  readonly graceMs?: number;
}

/** How to start, beside what to start. */
export interface StartOptions {
  /**
   * Idempotency key, a uuid: it becomes the incarnation, and a start repeated with the same one gives the same process.
   * With another spec it is refused (INVALID_PARAMS). Default: a new one.
   */
  readonly incarnation?: string;
}

/** A host of processes. */
export interface Backend {
  /** Starts a process and resolves once its program runs. Rejects with one of the codes in `protocol/errors.ts`. */
  start(spec: ProcessSpec, options?: StartOptions): Promise<Process>;
  /** The process of that id, also one that is starting or already closed. Rejects with PROCESS_UNKNOWN. */
  attach(processId: string): Promise<Process>;
  /** Every process not yet removed, in the order of their start. */
  list(): Promise<readonly ProcessInfo[]>;
  /** Each change of state of any process. Hot: what came before is in `list`. */
  readonly changes$: Observable<ProcessInfo>;
  /** Ends every process with its whole tree, waits for their ends, and refuses new ones. */
  close(options?: CloseOptions): Promise<void>;
}
