// Starts a process exactly once: a start whose reply was lost with its connection is sent again only if the server does not
// know the process. An exec-server that loses the connection during a start may leave the process starting forever (measured);
// terminating it frees the id, and no program has run.
import type { Clock } from "../../clock.ts";
import type { ExecwireError } from "../../errors.ts";
import { CODE, CodexError } from "../codex-error.ts";
import type { Answer, CodexCalls, Outcome } from "./calls.ts";
import { asOurs } from "./refusals.ts";

/** Pause between two polls of a process that is still starting. */
const POLL_MS = 50;
/** Polls after which a process that is still starting is considered stuck. */
const POLLS_UNTIL_STUCK = 20;

/** Sends `process/start`. `answer` is called in the turn of the reply, which the first events may follow. */
export function requestStart(
  calls: CodexCalls,
  clock: Clock,
  params: Readonly<Record<string, unknown>>,
  answer: Answer,
): void {
  const recovery = new StartRecovery(calls, clock, params.processId);
  calls.request("process/start", params, answer, {
    afterLoss: (sendAgain, settle) => recovery.begin({ sendAgain, settle }),
  });
}

/** The ways to finish a call after its connection was lost. */
interface Completion {
  readonly sendAgain: () => void;
  readonly settle: (outcome: Outcome) => void;
}

/** Finds out on a new connection whether a start took effect. */
class StartRecovery {
  readonly #calls: CodexCalls;
  readonly #clock: Clock;
  readonly #processId: unknown;
  #completion!: Completion;
  /** Counts connections: replies on an earlier one are outdated. */
  #connectionCount = 0;
  /** Polls since the start was sent, across connections, which may be short. */
  #polls = 0;
  #wasTerminated = false;

  constructor(calls: CodexCalls, clock: Clock, processId: unknown) {
    this.#calls = calls;
    this.#clock = clock;
    this.#processId = processId;
  }

  begin(completion: Completion): void {
    this.#completion = completion;
    this.#connectionCount += 1;
    this.#poll(this.#connectionCount);
  }

  #poll(connection: number): void {
    if (connection !== this.#connectionCount) return;
    this.#polls += 1;
    const params = { processId: this.#processId, afterSeq: 0, maxBytes: 0, waitMs: 0 };
    const answer = { onResult: () => this.#onFound(), onError: (error: Failure) => this.#onError(error, connection) };
    this.#calls.request("process/read", params, answer, { afterLoss: "drop" });
  }

  #onFound(): void {
    const { settle } = this.#completion;
    if (!this.#wasTerminated) return settle({ result: { processId: this.#processId } });
    settle({ error: new CodexError(CODE.failed, "the process was terminated because its start seemed to be stuck") });
  }

  #onError(error: Failure, connection: number): void {
    const { code } = asOurs(error);
    if (code === "PROCESS_UNKNOWN") {
      this.#polls = 0;
      this.#wasTerminated = false;
      this.#completion.sendAgain();
    } else if (code !== "PROCESS_STARTING") this.#completion.settle({ error });
    else if (this.#polls % POLLS_UNTIL_STUCK === 0) this.#terminate(connection);
    else this.#clock.after(POLL_MS, () => this.#poll(connection));
  }

  #terminate(connection: number): void {
    this.#wasTerminated = true;
    const poll = () => this.#poll(connection);
    const answer = { onResult: poll, onError: poll };
    this.#calls.request("process/terminate", { processId: this.#processId }, answer, { afterLoss: "drop" });
  }
}

type Failure = CodexError | ExecwireError;
