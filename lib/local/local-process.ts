// A handle of a process of this supervisor: its log, and a port to its actor.
import type { DeliveryMode, Limits } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import type { ReportError } from "../log/guarded-observable.ts";
import { Process } from "../process/process.ts";
import { isSignal } from "../spawn/signals.ts";
import { LocalPort } from "./local-port.ts";
import type { ProcessActor } from "./process-actor.ts";

/** What all handles of a supervisor share. */
export interface HandleContext {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly onError: ReportError;
}

/** Makes a handle. */
export function localProcess(
  actor: ProcessActor,
  delivery: DeliveryMode,
  { clock, limits, onError }: HandleContext,
): Process {
  return new Process({
    info: () => actor.info,
    log: actor.log,
    port: new LocalPort(actor.info.processId, actor, { clock, graceMs: limits.graceMs }),
    bounds: { limits, isSignal },
    delivery,
    unread: { clock, limits },
    onSubscriberError: onError,
  });
}
