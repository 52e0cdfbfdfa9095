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
const PROXY = {
  enabled: true,
  enableSocks5: false,
  enableSocks5Udp: false,
  allowUpstreamProxy: false,
  dangerouslyAllowAllUnixSockets: false,
  mode: "limited",
  allowLocalBinding: false,
};

export const refusals = [
  refused("sandbox-string", "a sandbox that is not an object is -32602", { sandbox: "x" }),
  refused("sandbox-empty", "a sandbox without permissions is -32602", { sandbox: {} }),
  refused("sandbox-variant", "unknown permissions are -32602", sandbox({ type: "none" })),
  refused("network-proxy", "a network proxy that is not enabled is refused", {
    networkProxy: { proxy: { ...PROXY, enabled: false } },
  }),
  refused(
    "managed-network",
    "a managed network is refused",
    { managedNetwork: { loopbackPorts: [], allowLocalBinding: false } },
    "ours",
  ),
  refused("enforce", "an enforced managed network is refused", { enforceManagedNetwork: true }, "ours"),
];
