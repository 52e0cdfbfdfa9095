// What a subscription of our own protocol sends: frames that all viewers of a process share, and the exit ahead of its turn.
import { encode, type ServerMessage } from "../../protocol/index.ts";
import { toWireError } from "../errors.ts";
import type { Channel } from "./channel.ts";
import type { Outbox } from "./outbox.ts";
import type { Receiver } from "./subscription.ts";

/** One more viewer of a channel, until it has ended. */
export function viewer(channel: Channel, outbox: Outbox): Receiver {
  const { id, process } = channel;
  const push = (message: ServerMessage) => outbox.push(encode(message));
  let exitIsSent = false;
  channel.viewers += 1;
  return {
    hasRoom: () => outbox.hasRoom,
    send: (delivery) =>
      delivery.type === "gap"
        ? push({ type: "gap", channel: id, gap: delivery })
        : outbox.push(channel.frameOf(delivery)),
    // A viewer that has not read what came before waits for the exit no longer than the others.
    afterRun: (sentSeq) => {
      const { exited } = process.log;
      if (!exited || exitIsSent || sentSeq >= exited.seq) return;
      exitIsSent = true;
      push({ type: "exit", channel: id, event: exited });
    },
    failed: (error) => push({ type: "failed", channel: id, error: toWireError(error) }),
    ended: () => {
      channel.viewers -= 1;
    },
  };
}
