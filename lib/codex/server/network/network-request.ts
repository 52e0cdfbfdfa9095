// The network that a client requests for a process, as a managed network of this host. What cannot be honoured is refused by name.
import { MAX_TIMER_MS, type ManagedNetwork, present, type SandboxPolicy } from "../../../../protocol/index.ts";
import { wrongParams } from "../../codex-error.ts";
import { anything, boolean, isMap, oneOf, optional, struct, u64 } from "../../decode.ts";

/**
 * Of the proxy's settings, these have no effect here: SOCKS is judged as HTTP is, UDP is not passed on, no other proxy is used, and
 * no unix socket is opened.
 */
const PROXY = struct("RemoteNetworkProxyConfig", {
  enabled: boolean,
  enableSocks5: boolean,
  enableSocks5Udp: boolean,
  allowUpstreamProxy: boolean,
  dangerouslyAllowAllUnixSockets: boolean,
  mode: oneOf("limited", "full"),
  domains: anything,
  unixSockets: anything,
  allowLocalBinding: boolean,
});
const LAUNCH = struct("RemoteNetworkProxyLaunchConfig", { proxy: PROXY, policyDecisionTimeoutMs: optional(u64) });
const PERMISSION = oneOf("allow", "deny", "none");

/** Bytes of a process id that questions about its network repeat, as in the exec-server. */
const MAX_ID_BYTES = 256;
/** The exec-server waits so much longer than the client takes to decide. */
const MARGIN_MS = 5000;

/** What a request asks for. */
export interface NetworkLaunch {
  readonly network: ManagedNetwork;
  /** Whether the client decides about hosts that are in no list. */
  readonly isAsked: boolean;
}

/** The requested network; undefined without one. Throws -32602. */
export function networkOf(networkProxy: unknown, processId: string): NetworkLaunch | undefined {
  if (networkProxy === undefined || networkProxy === null) return undefined;
  const { proxy, policyDecisionTimeoutMs: timeoutMs } = LAUNCH.decode(networkProxy);
  if (timeoutMs === 0) throw wrongParams("network policy decision callback timeout must be nonzero");
  const isAsked = timeoutMs !== undefined;
  if (isAsked && (processId === "" || Buffer.byteLength(processId) > MAX_ID_BYTES))
    throw wrongParams(`callback-enabled process ID must be non-empty and at most ${MAX_ID_BYTES} bytes`);
  if (!proxy.enabled)
    throw wrongParams(
      "invalid network proxy config: executor-local network proxy launch requires an enabled proxy in networkProxy",
    );
  const domains = domainsOf(proxy.domains);
  const withPermission = (wanted: string) =>
    domains.filter(([, permission]) => permission === wanted).map(([pattern]) => pattern.replace(/^\[(.*)\]$/, "$1"));
  const network = present({
    mode: "managed" as const,
    allow: withPermission("allow"),
    deny: withPermission("deny"),
    allowLocal: proxy.allowLocalBinding,
    onlyReading: proxy.mode === "limited",
    decisionTimeoutMs: isAsked ? Math.min(timeoutMs + MARGIN_MS, MAX_TIMER_MS) : undefined,
  });
  return { network, isAsked };
}

/** The parts of a process spec that put it on the network. Enforced with a sandbox, or where that is demanded; otherwise advice. */
export function networkSpec(
  network: ManagedNetwork | undefined,
  sandbox: SandboxPolicy | undefined,
  isEnforced: boolean,
): { readonly sandbox?: SandboxPolicy; readonly networkProxy?: ManagedNetwork } {
  if (!network) return sandbox ? { sandbox } : {};
  if (sandbox) return { sandbox: { ...sandbox, network } };
  if (!isEnforced) return { networkProxy: network };
  return { sandbox: { files: [{ path: { named: "root" }, access: "write" }], network, unixSockets: true } };
}

function domainsOf(domains: unknown): readonly (readonly [pattern: string, permission: string])[] {
  if (domains === undefined || domains === null) return [];
  if (!isMap(domains)) throw wrongParams("networkProxy.proxy.domains must be a map of patterns");
  return Object.entries(domains).map(([pattern, permission]) => [pattern, PERMISSION.decode(permission)] as const);
}
