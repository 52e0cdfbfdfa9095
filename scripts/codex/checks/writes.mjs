// Shared by the checks of process/write.
import { base64, outcome } from "../observe.mjs";

/** A child that echoes its input. */
export const CAT = { sh: "exec cat", env: { PATH: "/usr/bin:/bin" }, pipeStdin: true };

/** The status of a write, or the code of its refusal. */
export async function write(peer, processId, data, writeId, deadlineMs) {
  const reply = await peer.call("process/write", { processId, chunk: base64(data), writeId }, deadlineMs);
  return reply.result?.status ?? outcome(reply);
}
