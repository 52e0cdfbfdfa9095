// Messages of a process actor. The table at the top of process-actor.ts lists the source and the effect of each.
import type { KillScope, SignalName, TerminalSize, WriteStatus } from "../../protocol/index.ts";
import type { ExecwireError } from "../errors.ts";
import type { Child, ChildEvent } from "../spawn/child.ts";
import type { TerminationRequest } from "./termination.ts";

/** Settles the promise of a call. */
export interface Reply<T> {
  resolve(value: T): void;
  reject(error: unknown): void;
}

/** Everything that can happen to a process. */
export type Message =
  | ChildEvent
  | { readonly type: "spawned"; readonly child: Child }
  | { readonly type: "spawnFailed"; readonly error: ExecwireError }
  | {
      readonly type: "write";
      readonly chunk: Uint8Array;
      readonly writeId: string | undefined;
      readonly reply: Reply<WriteStatus>;
    }
  | { readonly type: "closeStdin"; readonly reply: Reply<WriteStatus> }
  | { readonly type: "written"; readonly error: Error | undefined }
  | { readonly type: "signal"; readonly signal: SignalName; readonly scope: KillScope; readonly reply: Reply<void> }
  | { readonly type: "resize"; readonly size: TerminalSize; readonly reply: Reply<void> }
  | ({
      readonly type: "terminate";
      readonly leftovers: boolean;
      readonly reply: Reply<{ running: boolean }>;
    } & TerminationRequest)
  | { readonly type: "mergeWindowOver" | "timeout" | "termination" | "leaseOver" | "closing" | "release" | "remove" }
  | { readonly type: "pressure"; readonly full: boolean };

/** Settles a call with the result or the error of `act`. */
export function answer<T>(reply: Reply<T>, act: () => T): void {
  try {
    reply.resolve(act());
  } catch (error) {
    reply.reject(error);
  }
}
