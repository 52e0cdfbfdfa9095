// The variables that make programs use the proxy. They are for convenience: a program that ignores them reaches nothing.
import type { ManagedNetwork } from "../../protocol/index.ts";
import { canonicalHost } from "./hosts.ts";
import { PROXY_PORT } from "./namespace-script.ts";

/** The loopback in the namespace is the command's own, for the servers that it starts. */
const OWN_LOOPBACK = ["localhost", "127.0.0.1", "::1"];

/** The variables for a process with this network. What `allow` names is the host's, so that even its loopback needs the proxy. */
export function proxyVariables(
  { allow = [] }: ManagedNetwork,
  port: number = PROXY_PORT,
): Readonly<Record<string, string>> {
  const httpProxy = `http://127.0.0.1:${port}`;
  // With an h, names are left to the proxy: there is no name server in the namespace.
  const socksProxy = `socks5h://127.0.0.1:${port}`;
  const named = allow.map((pattern) => canonicalHost(pattern));
  const direct = OWN_LOOPBACK.filter((host) => !named.includes(host)).join(",");
  // Some programs look for the lower case only, others for the upper case.
  const inBothCases = {
    http_proxy: httpProxy,
    https_proxy: httpProxy,
    ws_proxy: httpProxy,
    wss_proxy: httpProxy,
    ftp_proxy: httpProxy,
    all_proxy: socksProxy,
    no_proxy: direct,
  };
  const upperCase = Object.entries(inBothCases).map(([name, value]) => [name.toUpperCase(), value]);
  return {
    ...inBothCases,
    ...Object.fromEntries(upperCase),
    npm_config_proxy: httpProxy,
    npm_config_https_proxy: httpProxy,
    npm_config_noproxy: direct,
    YARN_HTTP_PROXY: httpProxy,
    YARN_HTTPS_PROXY: httpProxy,
    PIP_PROXY: httpProxy,
    BUNDLE_HTTP_PROXY: httpProxy,
    BUNDLE_HTTPS_PROXY: httpProxy,
    // Node's own fetch uses the variables from version 24 on, if this is set.
    NODE_USE_ENV_PROXY: "1",
  };
}
