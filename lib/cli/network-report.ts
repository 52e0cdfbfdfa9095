// What `run` says about a managed network: which hosts were refused, since programs say little about it.
import type { NetworkDecision, ProcessSpec } from "../../protocol/index.ts";
import type { NetworkController } from "../process/network-controller.ts";
import { say } from "./report.ts";

/** Hosts that are named; a program may try many. */
const SHOWN = 5;

/** Collects the refusals of one command. */
export class NetworkReport {
  readonly controller: NetworkController;
  readonly #refused = new Map<string, string>();

  constructor({ sandbox }: ProcessSpec) {
    const onNetworkDecision = (decision: NetworkDecision) => this.#add(decision);
    this.controller = typeof sandbox?.network === "object" ? { onNetworkDecision } : {};
  }

  /** Says it once the command has ended. */
  finish(): void {
    const refused = [...this.#refused].map(([host, reason]) => `${host} (${reason})`);
    if (refused.length === 0) return;
    const more = refused.length > SHOWN ? ", ..." : "";
    const reasons = new Set(this.#refused.values());
    const hints = [
      ...(reasons.has("not_allowed") ? ["--allow-host permits a host"] : []),
      ...(reasons.has("not_allowed_local") ? ["--allow-local permits private and loopback addresses"] : []),
    ];
    say([`the network policy refused ${refused.slice(0, SHOWN).join(", ")}${more}`, ...hints].join("; "));
  }

  #add({ decision, host, reason }: NetworkDecision): void {
    if (decision === "deny" && this.#refused.size <= SHOWN) this.#refused.set(host, reason);
  }
}
