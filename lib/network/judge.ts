// Decides about the connections of one process, and reports each decision. The order matters: no name is resolved before it is
// permitted, since a query to a name server can carry data out; and the address that was checked is the one that is dialled,
// since a second query may have another answer.
//
// 1. deny list                              refused
// 2. address or name that is local          refused, unless `allow` names it literally or local addresses are permitted
// 3. allow list                             permitted; any other host: the controller decides
// 4. addresses of the name, checked as in 2
import { lookup } from "node:dns/promises";
import { isIP } from "node:net";
import type { Limits, ManagedNetwork, NetworkAnswer, NetworkDecision, NetworkProtocol } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import type { NetworkController } from "../process/network-controller.ts";
import { canonicalHost, isLocalName, isPublic, matches } from "./hosts.ts";

/** What a judge needs. */
export interface JudgeOptions extends NetworkController {
  readonly processId: string;
  readonly policy: ManagedNetwork;
  readonly clock: Clock;
  readonly limits: Pick<Limits, "networkDecisions" | "networkDecisionMs">;
  /** Called with what `onNetworkDecision` throws, which changes no decision. */
  readonly onError?: (error: unknown) => void;
  /** All addresses of a name. Default: the resolver of the system. */
  readonly resolve?: (name: string) => Promise<readonly string[]>;
}

/** What a process asks for. */
export interface Target {
  readonly protocol: NetworkProtocol;
  readonly host: string;
  readonly port: number;
  readonly method?: string;
}

/** The outcome: the addresses to dial, or why not. */
export type Verdict =
  | { readonly isAllowed: true; readonly addresses: readonly string[] }
  | { readonly isAllowed: false; readonly host: string; readonly reason: string };

type Source = NetworkDecision["source"];
/** A decision before it is reported. */
type Outcome = { readonly source: Source; readonly reason: string; readonly addresses?: readonly string[] };

/** Methods that change nothing (RFC 9110, section 9.2.1), of those that are in use. */
const SAFE_METHODS: readonly string[] = ["GET", "HEAD", "OPTIONS"];

const MAX_REASON_CHARS = 256;

/** Judges the connections of one process. */
export class Judge {
  readonly #options: JudgeOptions;
  readonly #pending = new Set<AbortController>();
  #isOver = false;
  #hasDenied = false;

  constructor(options: JudgeOptions) {
    this.#options = options;
  }

  /** Whether any connection was refused so far. */
  get hasDenied(): boolean {
    return this.#hasDenied;
  }

  /** Decides and reports. `signal` aborts when the process no longer waits. Never rejects. */
  async judge(target: Target, signal: AbortSignal): Promise<Verdict> {
    const host = canonicalHost(target.host);
    const outcome = await this.#decide(target, host, signal).catch(
      (error: unknown): Outcome => ({ source: "host", reason: `failed: ${messageOf(error)}` }),
    );
    const { source, reason, addresses } = outcome;
    this.#report({ ...target, host: host ?? target.host.slice(0, MAX_REASON_CHARS) }, source, reason, addresses);
    if (addresses) return { isAllowed: true, addresses };
    return { isAllowed: false, host: host ?? target.host, reason };
  }

  /** Refuses what waits for the controller: the process is to end. It may go on all the same, and is judged as before. */
  refusePending(): void {
    for (const pending of this.#pending) pending.abort(new Error("the process is ending"));
  }

  /** The process has ended: nothing is asked any more. */
  end(): void {
    this.#isOver = true;
    this.refusePending();
  }

  async #decide(target: Target, host: string | undefined, signal: AbortSignal): Promise<Outcome> {
    const { allow = [], deny = [], allowLocal = false } = this.#options.policy;
    if (host === undefined || target.port < 1 || target.port > 65_535)
      return { source: "policy", reason: "not_a_host" };
    if (deny.some((pattern) => matches(pattern, host))) return { source: "policy", reason: "denied" };
    if (this.#options.policy.onlyReading && !(target.protocol === "http" && SAFE_METHODS.includes(target.method ?? "")))
      return { source: "policy", reason: "method_not_allowed" };
    const isAddress = isIP(host) !== 0;
    const isNamed = allow.some((pattern) => !pattern.startsWith("*") && matches(pattern, host));
    const isLocalAllowed = allowLocal || (isNamed && (isAddress || isLocalName(host)));
    if (!isLocalAllowed && (isAddress ? !isPublic(host) : isLocalName(host)))
      return { source: "policy", reason: "not_allowed_local" };
    const isListed = allow.some((pattern) => matches(pattern, host));
    const permission = isListed ? LISTED : await this.#ask({ ...target, host }, signal);
    if (!permission.isAllowed) return permission;
    const addresses = isAddress ? [host] : await this.#addressesOf(host);
    if (addresses.length === 0) return { source: "host", reason: "no_address" };
    const dialled = isLocalAllowed ? addresses : addresses.filter(isPublic);
    if (dialled.length === 0) return { source: "policy", reason: "not_allowed_local" };
    return { source: permission.source, reason: permission.reason, addresses: dialled };
  }

  async #addressesOf(name: string): Promise<readonly string[]> {
    const { resolve = resolveName } = this.#options;
    return await resolve(name).catch(() => []);
  }

  /** Asks the controller. */
  #ask(target: Target, signal: AbortSignal): Promise<Outcome & { readonly isAllowed: boolean }> {
    const { onNetworkRequest, limits, clock, policy, processId } = this.#options;
    if (!onNetworkRequest) return Promise.resolve(refusal("policy", "not_allowed"));
    if (this.#isOver) return Promise.resolve(refusal("host", "process_ending"));
    if (this.#pending.size >= limits.networkDecisions) return Promise.resolve(refusal("host", "too_many_pending"));
    return new Promise((resolve) => {
      const pending = new AbortController();
      this.#pending.add(pending);
      const settle = (outcome: Outcome & { readonly isAllowed: boolean }) => {
        cancel();
        signal.removeEventListener("abort", onGone);
        pending.signal.removeEventListener("abort", onOver);
        this.#pending.delete(pending);
        resolve(outcome);
        // An answer that is still being worked on is not needed.
        pending.abort();
      };
      const onOver = () => settle(refusal("host", "process_ending"));
      const onGone = () => settle(refusal("host", "connection_closed"));
      const timeoutMs = policy.decisionTimeoutMs ?? limits.networkDecisionMs;
      const cancel = clock.after(timeoutMs, () => settle(refusal("controller", "decision_timeout")));
      pending.signal.addEventListener("abort", onOver);
      signal.addEventListener("abort", onGone);
      if (signal.aborted) return onGone();
      (async () => onNetworkRequest({ processId, ...target }, pending.signal))().then(
        (answer) => settle(outcomeOf(answer)),
        () => settle(refusal("controller", "decision_failed")),
      );
    });
  }

  #report(target: Target, source: Source, reason: string, addresses: readonly string[] | undefined): void {
    if (!addresses) this.#hasDenied = true;
    const { processId, clock, onNetworkDecision } = this.#options;
    const decision = addresses ? "allow" : "deny";
    try {
      onNetworkDecision?.({ processId, ...target, time: clock.now(), decision, source, reason });
    } catch (error) {
      this.#options.onError?.(error);
    }
  }
}

const LISTED = { isAllowed: true, source: "policy", reason: "allowed" } as const;

function refusal(source: Source, reason: string) {
  return { isAllowed: false, source, reason } as const;
}

/** Anything but a clear permission is a refusal: the handler may be JavaScript. */
function outcomeOf(answer: NetworkAnswer): Outcome & { readonly isAllowed: boolean } {
  if (answer === "allow") return { isAllowed: true, source: "controller", reason: "allowed" };
  const reason = typeof answer === "object" && typeof answer?.deny === "string" ? answer.deny : "not_allowed";
  return refusal("controller", reason.slice(0, MAX_REASON_CHARS));
}

async function resolveName(name: string): Promise<readonly string[]> {
  return (await lookup(name, { all: true })).map(({ address }) => address);
}

function messageOf(error: unknown): string {
  return error instanceof Error ? error.message : String(error);
}
