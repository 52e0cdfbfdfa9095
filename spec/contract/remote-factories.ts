// The remote backends: the local supervisor behind a server, over every transport, a relay and a bad network.
import { tmpdir } from "node:os";
import { join } from "node:path";
import { PassThrough } from "node:stream";
import { connectOver } from "../../lib/client/connect.ts";
import { connect } from "../../lib/connect.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { Backend } from "../../lib/process/backend.ts";
import { type ExecwireServer, type ListenAddress, serve } from "../../lib/server/server.ts";
import { memoryPair } from "../../lib/transport/memory-pair.ts";
import { streamTransport } from "../../lib/transport/stream.ts";
import { limits as defaults, type Limits } from "../../protocol/index.ts";
import { uniqueName } from "../support/scratch.ts";
import { WireProxy } from "../support/wire-proxy.ts";
import type { Abilities, BackendFactory } from "./backends.ts";

const TOKEN = "token of the contract";
const auth = { kind: "token", token: TOKEN } as const;

/** Ends something that the backend needs. */
type Ending = () => unknown;

/** A backend whose `close` also runs these endings. */
function composed(backend: Backend, ...endings: Ending[]): Backend {
  return {
    start: (spec, options) => backend.start(spec, options),
    attach: (processId) => backend.attach(processId),
    list: () => backend.list(),
    changes$: backend.changes$,
    async close(options) {
      await backend.close(options);
      for (const ending of endings) await ending();
    },
  };
}

async function host(limits: Partial<Limits>, listen?: ListenAddress): Promise<{ server: ExecwireServer; end: Ending }> {
  const supervisor = createSupervisor({ limits });
  const server = await serve(supervisor, { auth, limits, ...(listen && { listen }) });
  const end = async () => {
    await server.close();
    await supervisor.close({ graceMs: 0 });
  };
  return { server, end };
}

const loopback = { host: "127.0.0.1", port: 0 };

const kinds: Readonly<Record<string, (limits: Partial<Limits>) => Promise<Backend>>> = {
  async memory(limits) {
    const { server, end } = await host(limits);
    const open = async () => {
      const [near, far] = memoryPair();
      server.accept(far);
      return near;
    };
    return composed(await connectOver(open, { token: TOKEN, limits }), end);
  },

  async websocket(limits) {
    const { server, end } = await host(limits, loopback);
    return composed(await connect(server.url as string, { token: TOKEN, limits }), end);
  },

  async unix(limits) {
    const { server, end } = await host(limits, { path: join(tmpdir(), `${uniqueName("socket")}.sock`) });
    return composed(await connect(server.url as string, { token: TOKEN, limits }), end);
  },

  async stdio(limits) {
    const { server, end } = await host(limits);
    const open = async () => {
      const [toServer, toClient] = [new PassThrough(), new PassThrough()];
      server.accept(streamTransport(toServer, toClient, defaults.frameBytes));
      return streamTransport(toClient, toServer, defaults.frameBytes);
    };
    return composed(await connectOver(open, { token: TOKEN, limits }), end);
  },

  async relay(limits) {
    const { server: far, end: endFar } = await host(limits, loopback);
    const middle = await connect(far.url as string, { token: TOKEN, limits });
    const near = await serve(middle, { auth, limits, listen: loopback });
    const endNear = async () => {
      await near.close();
      await middle.close({ graceMs: 0 });
    };
    return composed(await connect(near.url as string, { token: TOKEN, limits }), endNear, endFar);
  },

  /** The proxy cuts the socket after every 50 frames, as far as it can distinguish them. */
  async cutting(limits) {
    const { server, end } = await host(limits, loopback);
    const proxy = await WireProxy.to(server.url as string);
    const eager = { ...limits, backoffFirstMs: 1, backoffLastMs: 20 };
    const client = await connect(proxy.url, { token: TOKEN, limits: eager });
    proxy.cutEvery(50);
    return composed(client, () => proxy.close(), end);
  },
};

/** The remote factories, with most abilities of their host. */
export function remoteFactories(supports: Abilities): BackendFactory[] {
  return Object.entries(kinds).map(([name, create]) => ({
    name,
    supports: {
      ...supports,
      inheritFds: false,
      reportsRemoval: false,
      retainsExactly: false,
      sizesEveryGap: name !== "cutting",
    },
    create,
  }));
}
