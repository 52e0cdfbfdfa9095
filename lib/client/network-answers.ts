// The controllers of the managed networks of a client's processes: it answers what the server asks, and passes decisions on.
import type {
  ClientMessage,
  NetworkAnswer,
  NetworkRequest,
  NetworkWishes,
  ProcessSpec,
  ServerMessage,
} from "../../protocol/index.ts";
import type { NetworkController } from "../process/network-controller.ts";

/** Finds the controller of each message. */
export class NetworkAnswers {
  readonly #send: (message: ClientMessage) => void;
  readonly #onError: (error: unknown) => void;
  /** By incarnation. */
  readonly #controllers = new Map<string, NetworkController>();
  readonly #open = new Map<number, AbortController>();

  constructor(send: (message: ClientMessage) => void, onError: (error: unknown) => void) {
    this.#send = send;
    this.#onError = onError;
  }

  /** Before a start. Returns what the server must learn; undefined if the network needs no controller, or there is none. */
  begin(spec: ProcessSpec, incarnation: string, controller: NetworkController): NetworkWishes | undefined {
    const { onNetworkRequest, onNetworkDecision } = controller;
    const isManaged = typeof spec.sandbox?.network === "object" || spec.networkProxy !== undefined;
    if (!isManaged || !(onNetworkRequest || onNetworkDecision)) return undefined;
    this.#controllers.set(incarnation, controller);
    return { requests: onNetworkRequest !== undefined, decisions: onNetworkDecision !== undefined };
  }

  /** The process has ended, or was never started. */
  remove(incarnation: string): void {
    this.#controllers.delete(incarnation);
  }

  /** Messages about anything else are ignored. */
  receive(message: ServerMessage): void {
    switch (message.type) {
      case "networkRequest":
        return void this.#answer(message.id, message.incarnation, message.request);
      case "networkRequestOver":
        return this.#open.get(message.id)?.abort();
      case "networkDecision":
        try {
          this.#controllers.get(message.incarnation)?.onNetworkDecision?.(message.decision);
        } catch (error) {
          this.#onError(error);
        }
    }
  }

  /** The connection was lost: the server has refused what was open. */
  disconnected(): void {
    for (const open of this.#open.values()) open.abort();
    this.#open.clear();
  }

  async #answer(id: number, incarnation: string, request: NetworkRequest): Promise<void> {
    const open = new AbortController();
    this.#open.set(id, open);
    let answer: NetworkAnswer = "deny";
    try {
      answer = (await this.#controllers.get(incarnation)?.onNetworkRequest?.(request, open.signal)) ?? "deny";
    } catch (error) {
      this.#onError(error);
    }
    // On another connection the number may mean another request.
    if (this.#open.get(id) !== open) return;
    this.#open.delete(id);
    if (!open.signal.aborted) this.#send({ type: "networkAnswer", id, answer: checked(answer) });
  }
}

/** Anything but a clear permission is a refusal: the handler may be JavaScript, and an invalid message would end the connection. */
function checked(answer: NetworkAnswer): NetworkAnswer {
  if (answer === "allow") return answer;
  return typeof answer === "object" && typeof answer.deny === "string" ? { deny: answer.deny.slice(0, 256) } : "deny";
}
