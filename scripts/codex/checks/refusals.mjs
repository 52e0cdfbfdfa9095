// What a server that cannot honour it must refuse (sections 6 and 7), and sandbox params that every server refuses.
import { outcome } from "../observe.mjs";

const refused = (id, what, change, only) => ({
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
  expect: -32602,
});

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
  refused("network-proxy", "a network proxy is refused", { networkProxy: { proxy: PROXY } }, "ours"),
  refused(
    "managed-network",
    "a managed network is refused",
    { managedNetwork: { loopbackPorts: [], allowLocalBinding: false } },
    "ours",
  ),
  refused("enforce", "an enforced managed network is refused", { enforceManagedNetwork: true }, "ours"),
  refused("shell-snapshot", "a shell snapshot is refused", { shellSnapshot: SHELL_SNAPSHOT }, "ours"),
  {
    id: "refusals/files-sandboxed",
    section: "6",
    what: "reading a file with a sandbox is refused by a server that does not apply it to files",
    only: "ours",
    run: async (ctx) =>
      outcome(await (await ctx.session()).call("fs/readFile", { path: "file:///etc/passwd", ...sandbox(READ_ONLY) })),
    expect: "-32602 sandboxUnavailable",
  },
];
