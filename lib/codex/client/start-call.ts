// The call that starts a process, exactly once: a start whose answer was lost with its connection is repeated only when the
// server has never heard of the process. An exec-server that loses the connection in the middle of a start may leave the
// process starting for good (measured); a termination frees the id, and nothing has run.
import type { Clock } from "../../clock.ts";
import type { ExecwireError } from "../../errors.ts";
import { CODE, CodexError } from "../codex-error.ts";
import type { Answer, CodexCalls, Outcome } from "./calls.ts";
import { asOurs } from "./refusals.ts";

/** A pause between two questions whether a process is still starting. */
const STARTING_MS = 50;
/** Questions after which a process that is still starting is taken for stuck. */
const PATIENCE = 20;

/** Sends `process/start`; `answer` is told in the turn of the reply, which the first events may follow. */
export function requestStart(
  calls: CodexCalls,
  clock: Clock,
  params: Readonly<Record<string, unknown>>,
  answer: Answer,
): void {
  const enquiry = new Enquiry(calls, clock, params.processId);
  calls.request("process/start", params, answer, {
    afterLoss: (sendAgain, settle) => enquiry.begin({ sendAgain, settle }),
  });
}

/** What an enquiry comes to. */
interface Verdicts {
  readonly sendAgain: () => void;
  readonly settle: (outcome: Outcome) => void;
}

/** Finds out on a new connection what became of a start. */
class Enquiry {
  readonly #calls: CodexCalls;
  readonly #clock: Clock;
  readonly #processId: unknown;
  #verdicts!: Verdicts;
  /** Counts connections: what an earlier one says comes too late. */
  #round = 0;
  /** Questions since the start was sent; connections may be short. */
  #questions = 0;
  #wasFreed = false;

  constructor(calls: CodexCalls, clock: Clock, processId: unknown) {
    this.#calls = calls;
    this.#clock = clock;
    this.#processId = processId;
  }

  begin(verdicts: Verdicts): void {
    this.#verdicts = verdicts;
    this.#round += 1;
    this.#ask(this.#round);
  }

  #ask(round: number): void {
    if (round !== this.#round) return;
    this.#questions += 1;
    const params = { processId: this.#processId, afterSeq: 0, maxBytes: 0, waitMs: 0 };
    const answer = { onResult: () => this.#onKnown(), onError: (error: Failure) => this.#onError(error, round) };
    this.#calls.request("process/read", params, answer, { afterLoss: "drop" });
  }

  #onKnown(): void {
    const { settle } = this.#verdicts;
    if (!this.#wasFreed) return settle({ result: { processId: this.#processId } });
    settle({ error: new CodexError(CODE.failed, "it was ended together with a start that seemed to be stuck") });
  }

  #onError(error: Failure, round: number): void {
    const { code } = asOurs(error);
    if (code === "PROCESS_UNKNOWN") {
      this.#questions = 0;
      this.#wasFreed = false;
      this.#verdicts.sendAgain();
    } else if (code !== "PROCESS_STARTING") this.#verdicts.settle({ error });
    else if (this.#questions % PATIENCE === 0) this.#free(round);
    else this.#clock.after(STARTING_MS, () => this.#ask(round));
  }

  #free(round: number): void {
    this.#wasFreed = true;
    const ask = () => this.#ask(round);
    const answer = { onResult: ask, onError: ask };
    this.#calls.request("process/terminate", { processId: this.#processId }, answer, { afterLoss: "drop" });
  }
}

type Failure = CodexError | ExecwireError;
