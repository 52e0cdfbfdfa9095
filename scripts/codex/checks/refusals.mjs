// What a server must refuse (section 6), instead of ignoring it: restrictions that it cannot enforce.
import { outcome } from "../observe.mjs";

const refused = (id, what, change, only, expect = -32602) => ({
  id: `refusals/${id}`,
  section: "6",
  what,
  ...(only && { only }),
  run: async (ctx) => {
    const peer = await ctx.session();
    const spec = ctx.spec({ sh: "touch ran", env: { PATH: "/bin" }, ...change });
    const answer = outcome(await peer.call("process/start", spec));
    return answer;
  },
  expect,
});

const UNAVAILABLE = "-32602 sandboxUnavailable";
const sandbox = (permissions, more) => ({ sandbox: { permissions, windowsSandboxLevel: "disabled", ...more } });
const READ_ROOT = [{ path: { type: "special", value: { kind: "root" } }, access: "read" }];
const READ_ONLY = { type: "managed", file_system: { type: "restricted", entries: READ_ROOT }, network: "restricted" };
const PROXY = {
  enabled: true,
  enableSocks5: false,
  enableSocks5Udp: false,
  allowUpstreamProxy: false,
  dangerouslyAllowAllUnixSockets: false,
  mode: "limited",
  allowLocalBinding: false,
};
const SHELL_SNAPSHOT = { scopeId: "s", shell: { name: "bash", path: "/bin/bash" } };

export const refusals = [
  refused("sandbox-string", "a sandbox that is not an object is -32602", { sandbox: "x" }),
  refused("sandbox-empty", "a sandbox without permissions is -32602", { sandbox: {} }),
  refused("sandbox-variant", "unknown permissions are -32602", sandbox({ type: "none" })),
  refused(
    "sandbox-mxc",
    "a sandbox of Windows is refused",
    sandbox(READ_ONLY, { windowsSandboxLevel: "mxc" }),
    undefined,
    UNAVAILABLE,
  ),
  refused(
    "sandbox-token",
    "a sandbox with a restricted token is refused",
    sandbox(READ_ONLY, { windowsSandboxLevel: "restricted-token" }),
    "ours",
    UNAVAILABLE,
  ),
  refused("network-proxy", "a network proxy is refused", { networkProxy: { proxy: PROXY } }, "ours"),
  refused(
    "managed-network",
    "a managed network is refused",
    { managedNetwork: { loopbackPorts: [], allowLocalBinding: false } },
    "ours",
  ),
  refused("enforce", "an enforced managed network is refused", { enforceManagedNetwork: true }, "ours"),
  refused("shell-snapshot", "a shell snapshot is refused", { shellSnapshot: SHELL_SNAPSHOT }, "ours"),
];
