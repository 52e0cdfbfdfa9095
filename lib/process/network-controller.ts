// The part that the program that starts a process has in its managed network: it decides, and it learns what was decided.
import type { NetworkAnswer, NetworkDecision, NetworkRequest } from "../../protocol/index.ts";

/** Decides about a connection. A rejection refuses it. The signal aborts when the answer no longer matters. */
export type NetworkHandler = (request: NetworkRequest, signal: AbortSignal) => NetworkAnswer | Promise<NetworkAnswer>;

/** Decides about the connections of processes with a managed network, and receives the decisions. */
export interface NetworkController {
  /** Called for a host that is in neither list of the policy. Without it, such a host is refused. */
  readonly onNetworkRequest?: NetworkHandler | undefined;
  /** Called with each decision, as a record of what a process reached. */
  readonly onNetworkDecision?: ((decision: NetworkDecision) => void) | undefined;
}

/** For one start: its own handler or that of the backend decides, and both learn the decisions. */
export function controllerFor(backend: NetworkController, start: NetworkController): NetworkController {
  const onNetworkRequest = start.onNetworkRequest ?? backend.onNetworkRequest;
  const [one, other] = [backend.onNetworkDecision, start.onNetworkDecision];
  if (!one || !other) return { onNetworkRequest, onNetworkDecision: one ?? other };
  return {
    onNetworkRequest,
    onNetworkDecision: (decision) => {
      one(decision);
      other(decision);
    },
  };
}
