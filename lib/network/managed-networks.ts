// Gives a sandbox a network on which it reaches nothing but a proxy of its own.
import { once } from "node:events";
import { closeSync } from "node:fs";
import { type AddressInfo, createServer, type Server } from "node:net";
import type { Limits, ManagedNetwork } from "../../protocol/index.ts";
import type { NetworkController } from "../process/network-controller.ts";
import type { ChildNetwork, SandboxNetwork } from "../sandbox/sandbox-network.ts";
import { Judge } from "./judge.ts";
import { type Namespace, Namespaces, type NamespacesOptions } from "./namespaces.ts";
import { NetworkProxy } from "./proxy.ts";

/** What the networks of a supervisor share. */
export interface ManagedNetworksOptions extends NamespacesOptions {
  readonly limits: Limits;
  readonly onError: (error: unknown) => void;
}

/** Whose network it is, and what decides about it. */
export interface NetworkOwner {
  readonly processId: string;
  readonly controller: NetworkController;
}

/** The managed networks of one supervisor. */
export class ManagedNetworks {
  readonly #options: ManagedNetworksOptions;
  readonly #namespaces: Namespaces;

  constructor(options: ManagedNetworksOptions) {
    this.#options = options;
    this.#namespaces = new Namespaces(options);
  }

  /** A network for one process. The caller closes it. Rejects with SANDBOX_UNAVAILABLE or SANDBOX_FAILED. */
  async open(policy: ManagedNetwork, owner: NetworkOwner): Promise<SandboxNetwork> {
    const namespace = await this.#namespaces.take();
    return new EnterableNetwork(this.#serve(namespace.listener, policy, owner), namespace);
  }

  /** A proxy for one process on the loopback of this host, and its port. The caller closes it. */
  async openOnHost(
    policy: ManagedNetwork,
    owner: NetworkOwner,
  ): Promise<{ readonly network: ChildNetwork; readonly port: number }> {
    const listener = createServer().listen(0, "127.0.0.1");
    await once(listener, "listening");
    const { port } = listener.address() as AddressInfo;
    return { network: new JudgedNetwork(this.#serve(listener, policy, owner)), port };
  }

  #serve(listener: Server, policy: ManagedNetwork, { processId, controller }: NetworkOwner): Served {
    const { clock, limits, onError } = this.#options;
    const judge = new Judge({ ...controller, processId, policy, clock, limits, onError });
    return { judge, proxy: new NetworkProxy(judge, listener, limits.networkConnections) };
  }

  /** Ends what is kept ready. Networks that were opened stay until they are closed. */
  close(): void {
    this.#namespaces.close();
  }
}

interface Served {
  readonly judge: Judge;
  readonly proxy: NetworkProxy;
}

class JudgedNetwork implements ChildNetwork {
  readonly #served: Served;

  constructor(served: Served) {
    this.#served = served;
  }

  get hasDenied(): boolean {
    return this.#served.judge.hasDenied;
  }

  refusePending(): void {
    this.#served.judge.refusePending();
  }

  close(): void {
    this.#served.judge.end();
    this.#served.proxy.close();
  }
}

class EnterableNetwork extends JudgedNetwork implements SandboxNetwork {
  readonly paths: SandboxNetwork["paths"];
  readonly #descriptors: number[];

  constructor(served: Served, { net, user }: Pick<Namespace, "net" | "user">) {
    super(served);
    this.#descriptors = [net, user];
    this.paths = { net: `/proc/${process.pid}/fd/${net}`, user: `/proc/${process.pid}/fd/${user}` };
  }

  entered(): void {
    for (const fd of this.#descriptors.splice(0)) closeSync(fd);
  }

  override close(): void {
    this.entered();
    super.close();
  }
}
