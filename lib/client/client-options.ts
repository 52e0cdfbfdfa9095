// What a caller chooses about a client, and what the client announces about its session.
import type { Limits, ProcessInfo } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import type { ReportError } from "../log/guarded-observable.ts";
import type { NetworkController } from "../process/network-controller.ts";

/** Options of a client. */
export interface ClientOptions extends NetworkController {
  readonly token?: string;
  readonly limits?: Partial<Limits>;
  /** Called with errors that a subscriber throws. Default: the console. */
  readonly onError?: ReportError;
  readonly clock?: Clock;
  /**
   * What to do when the server does not know the session any more, because it was restarted, or was not reached for longer than
   * it keeps sessions. `fail` (the default): the client is closed with CONNECTION_LOST, unless its session owned nothing. `renew`:
   * the client goes on with a new session, as `sessionRenewed$` announces. Then it also waits, for `limits.recoveryMs`, for
   * another server in place of one that was stopped.
   */
  readonly onSessionLost?: "fail" | "renew";
}

/** A new session has replaced one that the server does not know any more. */
export interface SessionRenewed {
  readonly type: "sessionRenewed";
  /**
   * The processes that the client had started, as far as it still followed them: their readers and pending calls have failed with
   * CONNECTION_LOST (`data.reason` is `session-lost`), and what has become of them is not known. `list` has those that are left.
   * Processes of other clients are followed further if the server still has them; otherwise their readers fail in the same way.
   */
  readonly lost: readonly ProcessInfo[];
}
