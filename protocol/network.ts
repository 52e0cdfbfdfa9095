// Managed networking, as data: which hosts a sandboxed process may reach, and what is asked and reported about it.

/**
 * A network on which a process reaches nothing but a proxy of its own. Each of its connections is judged: a host of `deny` is
 * refused, one of `allow` is permitted, and the controller decides about any other; without an answer it is refused.
 *
 * A pattern is a host name or address `x`; `*.x`, any name below `x`; `**.x`, `x` and any name below it; or, in `allow` only,
 * `*`, any host.
 */
export interface ManagedNetwork {
  readonly mode: "managed";
  readonly allow?: readonly string[];
  readonly deny?: readonly string[];
  /**
   * Whether loopback, private and other addresses that are not public may be reached. Default false: only those that `allow`
   * names literally, such as `127.0.0.1` or `localhost`. A name that resolves to such an address does not name it.
   */
  readonly allowLocal?: boolean;
  /** Permits only GET, HEAD and OPTIONS of plain HTTP: what happens in a tunnel cannot be seen. Default false. */
  readonly onlyReading?: boolean;
  /** How long the controller may take to decide; then the connection is refused. Default: `limits.networkDecisionMs`. */
  readonly decisionTimeoutMs?: number;
}

/** How a process asks its proxy for a connection: a plain HTTP request, a tunnel by HTTP CONNECT, or SOCKS 5. */
export type NetworkProtocol = "http" | "connect" | "socks5";

/** A connection that neither list decides. */
export interface NetworkRequest {
  readonly processId: string;
  readonly protocol: NetworkProtocol;
  /** In lower case, without a dot at the end; addresses in their usual form, IPv6 without brackets. */
  readonly host: string;
  readonly port: number;
  /** The HTTP method, except for SOCKS. */
  readonly method?: string;
}

/** The answer of a controller. The reason of a refusal is shown to the program and reported. */
export type NetworkAnswer = "allow" | "deny" | { readonly deny: string };

/**
 * What was decided about one connection or, on a connection that is reused, one HTTP request.
 * - `policy` the lists, or the rule about local addresses
 * - `controller` its handler, also when it failed or did not answer in time
 * - `host` the host of the process: the name has no address, or too much is waiting
 */
export interface NetworkDecision extends NetworkRequest {
  /** Milliseconds since 1970. */
  readonly time: number;
  readonly decision: "allow" | "deny";
  readonly source: "policy" | "controller" | "host";
  readonly reason: string;
}
