// Spawns what a policy keeps in a sandbox, on the network that the policy gives it.
import type { Limits, SandboxPolicy } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { ManagedNetworks } from "../network/managed-networks.ts";
import type { NetworkController } from "../process/network-controller.ts";
import { Sandboxes } from "../sandbox/sandboxes.ts";
import type { Child, Launch, Spawner } from "../spawn/child.ts";

/** What a supervisor shares with its sandboxes. */
export interface IsolationOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly spawner: () => Promise<Spawner>;
  readonly onError: (error: unknown) => void;
}

/** The sandboxes and managed networks of one supervisor. */
export class Isolation {
  readonly #sandboxes: Sandboxes;
  readonly #networks: ManagedNetworks;

  constructor({ spawner, ...options }: IsolationOptions) {
    this.#sandboxes = new Sandboxes(options.clock);
    this.#networks = new ManagedNetworks({
      ...options,
      startHelper: async (start) => {
        const used = await spawner();
        const bubblewrap = await this.#sandboxes.bubblewrap(used);
        return used.startHelper ? used.startHelper(() => start(bubblewrap)) : start(bubblewrap);
      },
    });
  }

  /** See `Sandboxes.spawn`. */
  async spawn(
    spawner: Spawner,
    launch: Launch,
    { policy, processId, controller }: { policy: SandboxPolicy; processId: string; controller: NetworkController },
  ): Promise<Child> {
    const { network } = policy;
    const managed = typeof network === "object" ? await this.#networks.open(network, processId, controller) : undefined;
    return await this.#sandboxes.spawn(spawner, launch, policy, managed);
  }

  /** Ends what is kept ready for later networks. */
  close(): void {
    this.#networks.close();
  }
}
