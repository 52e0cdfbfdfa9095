// Gives a sandbox a network on which it reaches nothing but a proxy of its own.
import { closeSync } from "node:fs";
import type { Limits, ManagedNetwork } from "../../protocol/index.ts";
import type { NetworkController } from "../process/network-controller.ts";
import type { SandboxNetwork } from "../sandbox/sandbox-network.ts";
import { Judge } from "./judge.ts";
import { Namespaces, type NamespacesOptions } from "./namespaces.ts";
import { NetworkProxy } from "./proxy.ts";

/** What the networks of a supervisor share. */
export interface ManagedNetworksOptions extends NamespacesOptions {
  readonly limits: Limits;
  readonly onError: (error: unknown) => void;
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
  async open(policy: ManagedNetwork, processId: string, controller: NetworkController): Promise<SandboxNetwork> {
    const { clock, limits, onError } = this.#options;
    const { net, user, listener } = await this.#namespaces.take();
    const judge = new Judge({ ...controller, processId, policy, clock, limits, onError });
    const proxy = new NetworkProxy(judge, listener, limits.networkConnections);
    const descriptors = [net, user];
    const entered = () => {
      for (const fd of descriptors.splice(0)) closeSync(fd);
    };
    return {
      paths: { net: `/proc/${process.pid}/fd/${net}`, user: `/proc/${process.pid}/fd/${user}` },
      entered,
      get hasDenied() {
        return judge.hasDenied;
      },
      refusePending: () => judge.refusePending(),
      close: () => {
        entered();
        judge.refusePending();
        proxy.close();
      },
    };
  }

  /** Ends what is kept ready. Networks that were opened stay until they are closed. */
  close(): void {
    this.#namespaces.close();
  }
}
