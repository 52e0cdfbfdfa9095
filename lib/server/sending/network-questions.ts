// What one connection has to do with the managed networks of processes that its client has started: it passes on the questions
// about connections, with the answers, and the decisions. When it ends, what is open is refused: no other connection of the
// client knows of the question.
import { encode, type NetworkAnswer, type NetworkDecision, type NetworkRequest } from "../../../protocol/index.ts";
import type { Outbox } from "./outbox.ts";

/** The answer without a client. */
export const DETACHED: NetworkAnswer = { deny: "controller_detached" };

/** A client that decides about the networks of processes that it has started. */
export interface NetworkClient {
  ask(incarnation: string, request: NetworkRequest, signal: AbortSignal): Promise<NetworkAnswer>;
  report(incarnation: string, decision: NetworkDecision): void;
}

/** The controller at the other end of a connection. */
export class NetworkQuestions implements NetworkClient {
  readonly #outbox: Outbox;
  readonly #open = new Map<number, (answer: NetworkAnswer) => void>();
  #lastId = 0;
  #isOver = false;

  constructor(outbox: Outbox) {
    this.#outbox = outbox;
  }

  ask(incarnation: string, request: NetworkRequest, signal: AbortSignal): Promise<NetworkAnswer> {
    if (this.#isOver) return Promise.resolve(DETACHED);
    this.#lastId += 1;
    const id = this.#lastId;
    return new Promise((resolve) => {
      this.#open.set(id, resolve);
      this.#outbox.push(encode({ type: "networkRequest", id, incarnation, request }));
      signal.addEventListener("abort", () => {
        // Also after an answer, which has ended the question for both sides.
        if (this.#open.delete(id)) this.#outbox.push(encode({ type: "networkRequestOver", id }));
      });
    });
  }

  report(incarnation: string, decision: NetworkDecision): void {
    if (this.#isOver || !this.#outbox.hasRoom) return;
    this.#outbox.push(encode({ type: "networkDecision", incarnation, decision }));
  }

  /** The client has answered. */
  answer(id: number, answer: NetworkAnswer): void {
    const settle = this.#open.get(id);
    this.#open.delete(id);
    settle?.(answer);
  }

  /** The connection has ended. */
  end(): void {
    this.#isOver = true;
    for (const settle of this.#open.values()) settle(DETACHED);
    this.#open.clear();
  }
}
