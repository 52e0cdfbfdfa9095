// What a subscription of our own protocol sends: frames that all viewers of a process share, and the exit ahead of its turn.
import { encode, type ServerMessage } from "../../protocol/index.ts";
import { toWireError } from "../errors.ts";
import type { Outbox } from "./outbox.ts";
import type { SharedProcess } from "./shared-process.ts";
import type { Receiver } from "./subscription.ts";

/** One more viewer of a shared, until it has ended. */
export function viewer(shared: SharedProcess, outbox: Outbox): Receiver {
  const { channel, process } = shared;
  const push = (message: ServerMessage) => outbox.push(encode(message));
  let exitIsSent = false;
  shared.viewers += 1;
  return {
    hasRoom: () => outbox.hasRoom,
    send: (delivery) =>
      delivery.type === "gap" ? push({ type: "gap", channel, gap: delivery }) : outbox.push(shared.frameOf(delivery)),
    // A viewer that has not read what came before waits for the exit no longer than the others.
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
