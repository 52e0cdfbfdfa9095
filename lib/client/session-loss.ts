// The error of what a lost session leaves open. Without it, "no such process" would look like the end of the process.
import type { ExecwireError } from "../errors.ts";
import { connectionLost } from "./reconnecting.ts";

/** The error for a session that the server does not know any more. */
export function sessionLoss(): ExecwireError {
  const message = "the session was lost: the server was restarted, or was not reached in time";
  return connectionLost("session-lost", `${message}; list the processes that are left`);
}

/** The error of a reply, or the loss, if that is why the server does not know the process. */
export function explained(error: ExecwireError, loss: ExecwireError | undefined): ExecwireError {
  return loss && error.code === "PROCESS_UNKNOWN" ? loss : error;
}
