// Spawns what a spec asks for: with the set-up of the user's shell, in a sandbox, on the network that its policy gives it.
import type { Limits, ProcessSpec, SandboxPolicy } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { ManagedNetworks } from "../network/managed-networks.ts";
import { proxyVariables } from "../network/proxy-variables.ts";
import { controllerFor, type NetworkController } from "../process/network-controller.ts";
import { Sandboxes } from "../sandbox/sandboxes.ts";
import { ShellSnapshots } from "../shell/shell-snapshots.ts";
import type { Child, Launch, Leftover, Spawner } from "../spawn/child.ts";
import { policyFilter } from "../spawn/environment.ts";

/** What it needs of its supervisor. */
export interface SpecSpawnerOptions {
  readonly clock: Clock;
  readonly limits: Limits;
  readonly spawner: () => Promise<Spawner>;
  /** Called for each child, also for one that only prepares another. */
  readonly onSpawned: (child: Child) => void;
  readonly onReleased: (pid: number, leftover: Leftover | undefined) => void;
  readonly onError: (error: unknown) => void;
  /** What applies to every process: its sandbox, and the handlers for its network. */
  readonly own: NetworkController & { readonly sandbox?: SandboxPolicy };
}

/** Which process is spawned. */
export interface SpecOwner {
  readonly processId: string;
  readonly controller: NetworkController;
}

/** The sandboxes, managed networks and snapshots of one supervisor. */
export class SpecSpawner {
  readonly #options: SpecSpawnerOptions;
  readonly #sandboxes: Sandboxes;
  readonly #networks: ManagedNetworks;
  readonly #snapshots: ShellSnapshots;

  constructor(options: SpecSpawnerOptions) {
    const { clock, limits, spawner, onReleased, onError } = options;
    this.#options = options;
    this.#sandboxes = new Sandboxes(clock, { widest: options.own.sandbox });
    this.#snapshots = new ShellSnapshots({ clock, limits, onReleased });
    this.#networks = new ManagedNetworks({
      clock,
      limits,
      onError,
      startHelper: async (start) => {
        const used = await spawner();
        const bubblewrap = await this.#sandboxes.bubblewrap(used);
        return used.startHelper ? used.startHelper(() => start(bubblewrap)) : start(bubblewrap);
      },
    });
  }

  /** See `Sandboxes`. */
  confine(spec: ProcessSpec): ProcessSpec {
    return this.#sandboxes.confine(spec);
  }

  /** The handlers for the network of a start. With one network for all processes, a start decides nothing, and gets the decisions. */
  controllerOf(start: NetworkController): NetworkController {
    const { own } = this.#options;
    const { onNetworkDecision } = start;
    return controllerFor(own, typeof own.sandbox?.network === "object" ? { onNetworkDecision } : start);
  }

  /** Spawns a launch that was made from the spec. */
  async spawn(spawner: Spawner, launch: Launch, spec: ProcessSpec, owner: SpecOwner): Promise<Child> {
    const spawn = (each: Launch) => this.#spawn(spawner, each, spec, owner);
    const network = spec.sandbox?.network;
    const proxy = typeof network === "object" ? proxyVariables(network) : {};
    const complete = Object.keys(proxy).length === 0 ? launch : withVariables(launch, proxy);
    if (!spec.shellSnapshot) return spawn(complete);
    const isPermitted = policyFilter(spec.envPolicy, this.#options.limits.envGlobSteps);
    // A proxy that the start-up files name is not reached from here.
    const isKept = (name: string) => isPermitted(name) && !Object.hasOwn(proxy, name);
    const use = { scope: spec.shellSnapshot.scope, isKept, spawn };
    const { launch: wrapped, close } = await this.#snapshots.apply(complete, use, spawner.calls);
    return spawn(wrapped).finally(close);
  }

  /** Ends the captures of snapshots, and resolves when they have ended; later starts run the plain shell. */
  stop(): Promise<void> {
    return this.#snapshots.close();
  }

  /** Waits no longer for captures that do not end. */
  giveUp(): void {
    this.#snapshots.giveUp();
  }

  /** Ends what is kept ready for later networks. */
  close(): void {
    this.#networks.close();
  }

  async #spawn(spawner: Spawner, launch: Launch, { sandbox }: ProcessSpec, owner: SpecOwner): Promise<Child> {
    const child = await (async () => {
      if (!sandbox) return spawner.spawn(launch);
      if (typeof sandbox.network !== "object") return this.#sandboxes.spawn(spawner, launch, sandbox);
      const network = await this.#networks.open(sandbox.network, owner.processId, owner.controller);
      return this.#sandboxes.spawn(spawner, launch, sandbox, network);
    })();
    this.#options.onSpawned(child);
    return child;
  }
}

function withVariables(launch: Launch, variables: Readonly<Record<string, string>>): Launch {
  const others = launch.env.filter((entry) => !Object.hasOwn(variables, entry.slice(0, entry.indexOf("="))));
  return { ...launch, env: [...others, ...Object.entries(variables).map(([name, value]) => `${name}=${value}`)] };
}
