// A supervisor, a server on a port of 127.0.0.1, a bad network in front of it, and clients: the set-up of the wire specs.

import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { type ConnectOptions, connect } from "../../lib/connect.ts";
import { createSupervisor, type Supervisor } from "../../lib/local/supervisor.ts";
import { type ExecwireServer, type ServeOptions, serve } from "../../lib/server/server.ts";
import { WireProxy } from "./wire-proxy.ts";

/** The token of every host. */
export const TOKEN = "a token for specs";

/** Clients reconnect at once: specs wait for states and not for these pauses. */
const EAGER = { backoffFirstMs: 1, backoffLastMs: 10 };

/** Everything between a process and its clients. */
export class WireHost {
  readonly supervisor: Supervisor;
  readonly server: ExecwireServer;
  readonly proxy: WireProxy;
  readonly #clients: RemoteBackend[] = [];

  private constructor(supervisor: Supervisor, server: ExecwireServer, proxy: WireProxy) {
    this.supervisor = supervisor;
    this.server = server;
    this.proxy = proxy;
  }

  /** Starts everything except clients. `limits` are those of the supervisor and the server. */
  static async open(options: Partial<ServeOptions> = {}): Promise<WireHost> {
    const supervisor = createSupervisor(options.limits ? { limits: options.limits } : {});
    const listen = { host: "127.0.0.1", port: 0 };
    const server = await serve(supervisor, { auth: { kind: "token", token: TOKEN }, listen, ...options });
    return new WireHost(supervisor, server, await WireProxy.to(server.url as string));
  }

  /** A client that connects through the proxy. */
  connect(options: ConnectOptions = {}): Promise<RemoteBackend> {
    return this.#connect(this.proxy.url, options);
  }

  /** A client that connects directly. */
  connectDirectly(options: ConnectOptions = {}): Promise<RemoteBackend> {
    return this.#connect(this.server.url as string, options);
  }

  async close(): Promise<void> {
    await this.supervisor.close({ graceMs: 0 });
    for (const client of this.#clients) client.link.close();
    await this.proxy.close();
    await this.server.close();
  }

  async #connect(url: string, { limits, ...options }: ConnectOptions): Promise<RemoteBackend> {
    const client = await connect(url, { token: TOKEN, limits: { ...EAGER, ...limits }, ...options });
    this.#clients.push(client);
    return client;
  }
}
