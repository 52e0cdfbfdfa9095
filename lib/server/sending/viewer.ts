// The receiver of our own protocol. It sends frames that all viewers of a process share, and the exit ahead of unread output.
import { encode, type ServerMessage } from "../../../protocol/index.ts";
import { toWireError } from "../../errors.ts";
import type { SharedProcess } from "../shared-process.ts";
import type { Outbox } from "./outbox.ts";
import type { Receiver } from "./subscription.ts";

/** Adds a viewer to the process, until the subscription ends. */
export function viewer(shared: SharedProcess, outbox: Outbox): Receiver {
  const { channel, process } = shared;
  const push = (message: ServerMessage) => outbox.push(encode(message));
  let exitIsSent = false;
  shared.viewers += 1;
  return {
    hasRoom: () => outbox.hasRoom,
    send: (delivery) =>
      delivery.type === "gap" ? push({ type: "gap", channel, gap: delivery }) : outbox.push(shared.frameOf(delivery)),
    // A viewer that lags behind learns of the exit as early as the others.
    afterRun: (sentSeq) => {
      const { exited } = process.log;
      if (!exited || exitIsSent || sentSeq >= exited.seq) return;
      exitIsSent = true;
      push({ type: "exit", channel, event: exited });
    },
    failed: (error) => push({ type: "failed", channel, error: toWireError(error) }),
    ended: () => {
      shared.viewers -= 1;
    },
  };
}
