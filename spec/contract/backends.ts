// Every backend that the contract suite runs on. To put a new one under contract, add its factory to the list; what it
// cannot do is declared here in `supports` and never caught in a spec.
import { afterAll, beforeAll, describe, it } from "@jest/globals";
import { createSupervisor, type SupervisorOptions } from "../../lib/local/supervisor.ts";
import type { Backend, StartOptions } from "../../lib/process/backend.ts";
import type { Process } from "../../lib/process/process.ts";
import type { ExitedEvent, Limits, ProcessSpec } from "../../protocol/index.ts";
import { codexFactories } from "./codex-factories.ts";
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
  /** The tree includes daemons whose parents are gone. */
  readonly findsDaemons: boolean;
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
  /** stdin on a pipe can be closed. */
  readonly closesPipes: boolean;
  /** Any signal reaches any scope; else SIGINT reaches the group. */
  readonly signals: boolean;
  /** A death by signal is told by the signal's name; else by the number that a shell would give. */
  readonly tellsSignals: boolean;
  /** `terminate` begins with SIGTERM, has a grace and reaches the tree; else it is SIGKILL to the group. */
  readonly endsGently: boolean;
  /** `terminate` of the group leaves a job alone that was detached on purpose, whoever the server is. */
  readonly sparesDetached: boolean;
  /** A start in flight can be cancelled, and leaves its id free; else it is ended once it is up. */
  readonly cancelsStarts: boolean;
  /** `timeoutMs` works. */
  readonly timeouts: boolean;
  /** `merge` works. */
  readonly merge: boolean;
  /** A tty has any size, with or without echo, raw or not, and can be resized. */
  readonly setsTerminal: boolean;
  /** On a tty too, the environment is exactly what is given; else SHELL comes with it. */
  readonly plainTty: boolean;
  /** `info` has the pid. */
  readonly tellsPid: boolean;
  /** A start that fails says what is missing: kind and path. */
  readonly namesWhatFailed: boolean;
  /** A write waits for room in the child's stdin, and is refused once the child has closed it. */
  readonly feelsStdin: boolean;
  /** Who holds the pipes of a process and what it does can be asked. */
  readonly facts: boolean;
  /** The same of a process on a tty. */
  readonly ttyFacts: boolean;
  /** A line that is too long for a terminal is refused, rather than cut by the kernel. */
  readonly guardsLines: boolean;
  /** The host is ours: it has our limits, frees ids, and keeps its own credentials from children. */
  readonly ownHost: boolean;
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
  /** How a death by SIGKILL on pipes is told. */
  readonly killed: Pick<ExitedEvent, "exitCode" | "signal">;
  /** `it` for a spec of what not every backend can do; skipped where it cannot. */
  needs(...abilities: readonly (keyof Abilities)[]): typeof it.skip;
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
  findsDaemons: true,
  execErrorsOnTty: true,
  refusesShapeless: true,
  presetsTerminal: true,
  hearsOfRemoval: true,
  retainsExactly: true,
  closesPipes: true,
  signals: true,
  tellsSignals: true,
  endsGently: true,
  sparesDetached: true,
  cancelsStarts: true,
  timeouts: true,
  merge: true,
  setsTerminal: true,
  plainTty: true,
  tellsPid: true,
  namesWhatFailed: true,
  feelsStdin: true,
  facts: true,
  ttyFacts: true,
  guardsLines: true,
  ownHost: true,
};

const factories: readonly BackendFactory[] = [
  local("local", POSIX, { spawner: "posix" }),
  local(
    "local-portable",
    {
      ...POSIX,
      realPipes: false,
      arg0OnTty: false,
      hidesDescriptors: false,
      inheritFds: false,
      killAfterExit: false,
      exitAfterOwnOutput: false,
      findsDaemons: false,
      execErrorsOnTty: false,
      refusesShapeless: false,
      presetsTerminal: false,
      facts: false,
      guardsLines: false,
    },
    { spawner: "portable" },
  ),
  ...remoteFactories(POSIX),
  ...codexFactories(POSIX),
];

/** For what is built on `Process` alone: one backend of each kind. EVERY_BACKEND=1 runs it on all of them. */
export const KINDS = process.env.EVERY_BACKEND
  ? undefined
  : ["local", "websocket", "cutting", "codex", "codex-reference"];

/** Runs `body` once for each backend, or each of those named. All specs of a block share one backend with these limits. */
export function describeBackends(
  name: string,
  body: (subject: Subject) => void,
  limits: Partial<Limits> = {},
  names?: readonly string[],
): void {
  const chosen = names ? factories.filter((factory) => names.includes(factory.name)) : factories;
  describe.each(chosen)(`${name} ($name)`, ({ supports, create }) => {
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
      killed: supports.tellsSignals ? { exitCode: null, signal: "SIGKILL" } : { exitCode: 128 + 9, signal: null },
      needs: (...abilities) => (abilities.every((ability) => supports[ability]) ? it : it.skip),
      get backend() {
        return current();
      },
      start: (spec, options) => current().start(spec, options),
      create: (others = limits) => create(others),
    });
  });
}
