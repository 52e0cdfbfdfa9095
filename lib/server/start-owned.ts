// Starts a process that ends with its session, unless it shall be kept.
import type { ProcessSpec } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Channel } from "./channel.ts";
import type { Channels } from "./channels.ts";
import type { Session } from "./session.ts";

/** Resolves with the process once it runs. Rejects with CLOSED, and ends it again, when the session ended meanwhile. */
export async function startOwned(
  channels: Channels,
  session: Session,
  spec: ProcessSpec,
  incarnation: string,
): Promise<Channel> {
  const processId = spec.processId ?? incarnation;
  session.starting.add(processId);
  const channel = await channels.start(spec, incarnation).finally(() => session.starting.delete(processId));
  // The first owner stays: a start that was repeated by somebody else gives a look at the process, not the process.
  if (spec.onDetach === "keep" || channel.owner) return channel;
  channel.owner = session;
  session.owned.add(channel);
  if (!session.over) return channel;
  await channel.process.terminate({ scope: "tree" });
  throw new ExecwireError("CLOSED", "the session ended while the process was being started; it is ended again");
}
