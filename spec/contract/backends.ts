// Every backend that the contract suite runs on. To put a new one under contract, add its factory to the list; what it
// cannot do is declared here in `supports` and never caught in a spec.
import { afterAll, beforeAll, describe } from "@jest/globals";
import { createSupervisor, type SupervisorOptions } from "../../lib/local/supervisor.ts";
import type { Backend, StartOptions } from "../../lib/process/backend.ts";
import type { Process } from "../../lib/process/process.ts";
import type { Limits, ProcessSpec } from "../../protocol/index.ts";
import { remoteFactories } from "./remote-factories.ts";

/** What a backend can do beyond the common contract. */
export interface Abilities {
  /** A child can open its own output by name (`> /dev/stderr`), which fails on a socketpair. */
  readonly realPipes: boolean;
  /** `arg0` works on a tty too. */
  readonly arg0OnTty: boolean;
  /** A child gets none of its host's descriptors, not even those that another library left open for it. */
  readonly hidesDescriptors: boolean;
  /** `inheritFds` works; it means descriptors of the program that runs the specs. */
  readonly inheritFds: boolean;
  /** What the leader left behind can be signalled by scope after the leader's own exit. */
  readonly killAfterExit: boolean;
  /** What the child itself printed always comes before its `exited`. */
  readonly exitAfterOwnOutput: boolean;
  /** The tree includes whoever holds the child's pipes, also a daemon whose parents are gone. */
  readonly findsPipeHolders: boolean;
  /** A program that cannot be executed makes `start` reject on a tty too, even if only exec could know. */
  readonly execErrorsOnTty: boolean;
  /** A file that is no program and has no #! line is refused rather than given to a shell. */
  readonly refusesShapeless: boolean;
  /** The options of a tty are in force before `start` resolves. */
  readonly presetsTerminal: boolean;
  /** What a late reader finds is exactly what the limits of the host say; a replica may have kept more. */
  readonly retainsExactly: boolean;
  /** `info` of a process at hand says `removed` without being asked anew. */
  readonly hearsOfRemoval: boolean;
}

/** Makes one kind of backend. */
export interface BackendFactory {
  readonly name: string;
  readonly supports: Abilities;
  /** `limits` are those of the host of the processes. */
  create(limits: Partial<Limits>): Promise<Backend>;
}

/** What a spec works with. */
export interface Subject {
  readonly supports: Abilities;
  /** The backend of this block; closed after it. */
  readonly backend: Backend;
  /** Short for `backend.start`. */
  start(spec: ProcessSpec, options?: StartOptions): Promise<Process>;
  /** Another backend of the same kind, for the caller to close. */
  create(limits?: Partial<Limits>): Promise<Backend>;
}

function local(name: string, supports: Abilities, options: SupervisorOptions): BackendFactory {
  return { name, supports, create: async (limits) => createSupervisor({ ...options, limits }) };
}

const POSIX: Abilities = {
  realPipes: true,
  arg0OnTty: true,
  hidesDescriptors: true,
  inheritFds: true,
  killAfterExit: true,
  exitAfterOwnOutput: true,
  findsPipeHolders: true,
  execErrorsOnTty: true,
  refusesShapeless: true,
  presetsTerminal: true,
  hearsOfRemoval: true,
  retainsExactly: true,
};

const factories: readonly BackendFactory[] = [
  local("local", POSIX, { spawner: "posix" }),
  local(
    "local-portable",
    {
      realPipes: false,
      arg0OnTty: false,
      hidesDescriptors: false,
      inheritFds: false,
      killAfterExit: false,
      exitAfterOwnOutput: false,
      findsPipeHolders: false,
      execErrorsOnTty: false,
      refusesShapeless: false,
      presetsTerminal: false,
      hearsOfRemoval: true,
      retainsExactly: true,
    },
    { spawner: "portable" },
  ),
  ...remoteFactories(POSIX),
];

/** Runs `body` once for each backend. All specs of a block share one backend with these limits. */
export function describeBackends(name: string, body: (subject: Subject) => void, limits: Partial<Limits> = {}): void {
  describe.each(factories)(`${name} ($name)`, ({ supports, create }) => {
    let backend: Backend | undefined;
    beforeAll(async () => {
      backend = await create(limits);
    });
    afterAll(() => backend?.close({ graceMs: 0 }));
    const current = (): Backend => {
      if (!backend) throw new Error("the backend exists only while the specs of its block run");
      return backend;
    };
    body({
      supports,
      get backend() {
        return current();
      },
      start: (spec, options) => current().start(spec, options),
      create: (others = limits) => create(others),
    });
  });
}
