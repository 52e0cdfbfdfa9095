// Spawns what a spec asks for: with the set-up of the user's shell, in a sandbox, on the network that its policy gives it.
import type { Limits, ProcessSpec, SandboxPolicy } from "../../protocol/index.ts";
import type { Clock } from "../clock.ts";
import { refuse } from "../errors.ts";
import { ManagedNetworks, type NetworkOwner } from "../network/managed-networks.ts";
import { proxyVariables } from "../network/proxy-variables.ts";
import { controllerFor, type NetworkController } from "../process/network-controller.ts";
import { SandboxedChild } from "../sandbox/sandboxed-child.ts";
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
    if (this.#options.own.sandbox && spec.networkProxy)
      refuse({ field: "networkProxy", message: "cannot be combined with the sandbox of this server" });
    return this.#sandboxes.confine(spec);
  }

  /** The handlers for the network of a start. With one network for all processes, a start decides nothing, and gets the decisions. */
  controllerOf(start: NetworkController): NetworkController {
    const { own } = this.#options;
    const { onNetworkDecision } = start;
    return controllerFor(own, typeof own.sandbox?.network === "object" ? { onNetworkDecision } : start);
  }

  /** Spawns a launch that was made from the spec. */
  async spawn(spawner: Spawner, launch: Launch, spec: ProcessSpec, owner: NetworkOwner): Promise<Child> {
    const network = spec.sandbox?.network;
    if (typeof network === "object") return this.#spawnWith(spawner, launch, spec, owner, proxyVariables(network));
    if (!spec.networkProxy) return this.#spawnWith(spawner, launch, spec, owner, {});
    const { network: advised, port } = await this.#networks.openOnHost(spec.networkProxy, owner);
    try {
      const variables = proxyVariables(spec.networkProxy, port);
      const child = await this.#spawnWith(spawner, launch, spec, owner, variables);
      return new SandboxedChild(child, { network: advised });
    } catch (error) {
      advised.close();
      throw error;
    }
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

  /** With variables that the command has in any case, also if the start-up files of its shell name another proxy. */
  async #spawnWith(
    spawner: Spawner,
    plain: Launch,
    spec: ProcessSpec,
    owner: NetworkOwner,
    variables: Readonly<Record<string, string>>,
  ): Promise<Child> {
    const spawn = (each: Launch) => this.#spawn(spawner, each, spec, owner);
    const launch = withVariables(plain, variables);
    if (!spec.shellSnapshot) return spawn(launch);
    const isPermitted = policyFilter(spec.envPolicy, this.#options.limits.envGlobSteps);
    const isKept = (name: string) => isPermitted(name) && !Object.hasOwn(variables, name);
    const use = { scope: spec.shellSnapshot.scope, view: viewOf(spec.sandbox), isKept, spawn };
    const { launch: wrapped, close } = await this.#snapshots.apply(launch, use, spawner.calls);
    return spawn(wrapped).finally(close);
  }

  async #spawn(spawner: Spawner, launch: Launch, { sandbox }: ProcessSpec, owner: NetworkOwner): Promise<Child> {
    const spawn = async () => {
      if (!sandbox) return spawner.spawn(launch);
      if (typeof sandbox.network !== "object") return this.#sandboxes.spawn(spawner, launch, sandbox);
      return this.#sandboxes.spawn(spawner, launch, sandbox, await this.#networks.open(sandbox.network, owner));
    };
    const child = await spawn();
    this.#options.onSpawned(child);
    return child;
  }
}

/** The same for all processes that may read every file. */
function viewOf(sandbox: SandboxPolicy | undefined): string {
  const { files } = sandbox ?? { files: [] };
  const showsRoot = files.some(
    ({ path, access }) => typeof path === "object" && path.named === "root" && access !== "none",
  );
  const hides = files.some(
    ({ path, access }) => access === "none" || (typeof path === "object" && path.named === "tmp"),
  );
  return !sandbox || (showsRoot && !hides) ? "all" : JSON.stringify(files);
}

function withVariables(launch: Launch, variables: Readonly<Record<string, string>>): Launch {
  const added = Object.entries(variables);
  if (added.length === 0) return launch;
  const others = launch.env.filter((entry) => !Object.hasOwn(variables, entry.slice(0, entry.indexOf("="))));
  return { ...launch, env: [...others, ...added.map(([name, value]) => `${name}=${value}`)] };
}
