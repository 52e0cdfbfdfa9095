// The client of this dialect as the controller of its processes' networks: requests that this server sends, and notifications of
// decisions.
import type { NetworkAnswer, NetworkDecision, NetworkProtocol, NetworkRequest } from "../../../../protocol/index.ts";
import type { NetworkClient } from "../../../server/sending/network-questions.ts";
import type { Outbox } from "../../../server/sending/outbox.ts";
import { isMap } from "../../decode.ts";
import { type Envelope, encodeCall } from "../../envelope.ts";

/** The network of one process. */
export interface NetworkName {
  /** The client's id of the process. */
  readonly id: string;
  /** The client has terminated the process, perhaps after its exit: nothing is asked any more. */
  isOver: boolean;
}

const PROTOCOLS: Readonly<Record<NetworkProtocol, string>> = {
  http: "http",
  connect: "https_connect",
  socks5: "socks5_tcp",
};
const SOURCES: Readonly<Record<NetworkDecision["source"], string>> = {
  policy: "baseline_policy",
  controller: "decider",
  host: "proxy_state",
};
/** What an answer that is none means. */
const REFUSED: NetworkAnswer = { deny: "not_allowed" };
/** Reasons that clients know; others are refusals in general. */
const KNOWN_REASONS = ["denied", "not_allowed", "not_allowed_local", "method_not_allowed"];

interface Question {
  readonly incarnation: string;
  settle(answer: NetworkAnswer): void;
}

/** The questions of one connection. */
export class CodexNetworkClient implements NetworkClient {
  readonly #outbox: Outbox;
  readonly #nameOf: (incarnation: string) => NetworkName | undefined;
  /** By the source of the id. */
  readonly #open = new Map<string, Question>();
  #lastId = 0;
  #isOver = false;

  constructor(outbox: Outbox, nameOf: (incarnation: string) => NetworkName | undefined) {
    this.#outbox = outbox;
    this.#nameOf = nameOf;
  }

  ask(incarnation: string, request: NetworkRequest, signal: AbortSignal): Promise<NetworkAnswer> {
    const name = this.#nameOf(incarnation);
    if (this.#isOver || !name || name.isOver) return Promise.resolve(REFUSED);
    this.#lastId += 1;
    const id = this.#lastId;
    const { protocol, host, port } = request;
    const params = { processId: name.id, request: { protocol: PROTOCOLS[protocol], host, port } };
    return new Promise((settle) => {
      this.#open.set(String(id), { incarnation, settle });
      signal.addEventListener("abort", () => this.#open.delete(String(id)));
      this.#outbox.push(encodeCall("network/policyRequest", params, id));
    });
  }

  report(incarnation: string, decision: NetworkDecision): void {
    const name = this.#nameOf(incarnation);
    if (this.#isOver || !name || !this.#outbox.hasRoom) return;
    const { time, decision: outcome, source, reason, protocol, host, port, method } = decision;
    const isAllowed = outcome === "allow";
    const params = {
      processId: name.id,
      timestamp: new Date(time).toISOString(),
      scope: "domain",
      decision: outcome,
      source: SOURCES[source],
      reason: isAllowed || KNOWN_REASONS.includes(reason) || source === "controller" ? reason : "not_allowed",
      protocol: PROTOCOLS[protocol],
      host,
      port,
      method,
      policyOverride: isAllowed && source === "controller",
    };
    this.#outbox.push(encodeCall("network/policyDecision", params));
  }

  /** A reply of the client. One to nothing that is open is ignored. */
  answered(envelope: Extract<Envelope, { readonly kind: "result" | "error" }>): void {
    const question = this.#open.get(envelope.id);
    this.#open.delete(envelope.id);
    question?.settle(envelope.kind === "result" ? answerOf(envelope.result) : REFUSED);
  }

  /** Refuses what is open about a process. */
  refuse(incarnation: string): void {
    for (const [id, question] of this.#open) {
      if (question.incarnation !== incarnation) continue;
      this.#open.delete(id);
      question.settle(REFUSED);
    }
  }

  /** The connection has ended. */
  end(): void {
    this.#isOver = true;
    for (const question of this.#open.values()) question.settle(REFUSED);
    this.#open.clear();
  }
}

/** `ask` is a refusal too: this server has no user to ask. */
function answerOf(result: unknown): NetworkAnswer {
  const decision = isMap(result) ? result.decision : undefined;
  if (!isMap(decision)) return REFUSED;
  const { type, reason } = decision;
  if (type === "allow") return "allow";
  if ((type !== "deny" && type !== "ask") || typeof reason !== "string" || reason === "") return REFUSED;
  return { deny: reason };
}
