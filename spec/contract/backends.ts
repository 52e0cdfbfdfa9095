// Every backend that the contract suite runs on. To add a backend, add its factory to the list. Abilities that it lacks are
// declared in `supports`; no spec catches an error to find out.
import { afterAll, afterEach, beforeAll, describe, it } from "@jest/globals";
import { createSupervisor, type SupervisorOptions } from "../../lib/local/supervisor.ts";
import type { Backend, StartOptions } from "../../lib/process/backend.ts";
import type { Process } from "../../lib/process/process.ts";
import type { ExitedEvent, Limits, ProcessSpec } from "../../protocol/index.ts";
import { codexFactories } from "./codex-factories.ts";
import { remoteFactories } from "./remote-factories.ts";

/** Abilities of a backend beyond the common contract. */
export interface Abilities {
  /** A child can open its own output by name (`> /dev/stderr`), which fails on a socketpair. */
  readonly realPipes: boolean;
  /** `arg0` works on a tty too. */
  readonly arg0OnTty: boolean;
  /** A child inherits no descriptor of its host, not even one that another library has left without close-on-exec. */
  readonly hidesDescriptors: boolean;
  /** `inheritFds` works, with descriptors of the program that runs the specs. */
  readonly inheritFds: boolean;
  /** After the exit of the leader, a scope still reaches the processes that it left behind. */
  readonly killAfterExit: boolean;
  /** The output of the child itself always comes before its `exited`. */
  readonly exitAfterOwnOutput: boolean;
  /** The tree includes daemons whose parents have exited. */
  readonly findsDaemons: boolean;
  /** `start` rejects on a tty too, when only exec finds that the program cannot be executed. */
  readonly execErrorsOnTty: boolean;
  /** An executable file that is neither a program nor a #! script is refused, and not run by a shell. */
  readonly refusesUnknownFormats: boolean;
  /** The options of a tty are set before the program runs. */
  readonly presetsTerminal: boolean;
  /** A late reader finds exactly what the limits of the host retain; a replica may have kept more. */
  readonly retainsExactly: boolean;
  /** Every gap has its size; otherwise not if a connection is cut while the events after its position are evicted. */
  readonly sizesEveryGap: boolean;
  /** The `info` of an existing handle becomes `removed`. */
  readonly reportsRemoval: boolean;
  /** stdin can be closed on a pipe. */
  readonly closesPipes: boolean;
  /** Every signal and scope works; otherwise only SIGINT to the group. */
  readonly signals: boolean;
  /** An exit by a signal reports the name of the signal; otherwise exit code 128+n, as a shell does. */
  readonly reportsSignals: boolean;
  /** `terminate` starts with SIGTERM, has a grace and reaches the tree; otherwise it sends SIGKILL to the group. */
  readonly terminatesWithGrace: boolean;
  /** `terminate` of the group spares a job that was detached on purpose. */
  readonly sparesDetached: boolean;
  /** A cancelled start frees its id at once; otherwise the process is ended when it is up. */
  readonly cancelsStarts: boolean;
  /** `timeoutMs` works. */
  readonly timeouts: boolean;
  /** `merge` works. */
  readonly merge: boolean;
  /** A tty can have any size, echo off and raw mode, and can be resized. */
  readonly setsTerminal: boolean;
  /** On a tty too, the environment is exactly the given one; otherwise SHELL is added. */
  readonly plainTty: boolean;
  /** `info` has the pid. */
  readonly reportsPid: boolean;
  /** A failed start reports kind and path. */
  readonly reportsSpawnFailures: boolean;
  /** A write waits for room in the child's stdin, and is refused when the child has closed it. */
  readonly stdinBackPressure: boolean;
  /** `activity` and `holders` work for a process on pipes. */
  readonly facts: boolean;
  /** They work for a process on a tty. */
  readonly ttyFacts: boolean;
  /** A line that is too long for a terminal is refused before the kernel truncates it. */
  readonly refusesLongLines: boolean;
  /** The host is execwire: it has these limits, frees ids, and hides its own credentials from children. */
  readonly ownHost: boolean;
}

/** Makes one kind of backend. */
export interface BackendFactory {
  readonly name: string;
  readonly supports: Abilities;
  /** `limits` apply to the host of the processes. */
  create(limits: Partial<Limits>): Promise<Backend>;
}

/** The backend under test, and helpers. */
export interface Subject {
  readonly supports: Abilities;
  /** The backend of this block; closed after it. */
  readonly backend: Backend;
  /** The facts of an exit by SIGKILL on pipes. */
  readonly killed: Pick<ExitedEvent, "exitCode" | "signal">;
  /** `it` for a spec that needs these abilities; skipped on a backend without them. */
  needs(...abilities: readonly (keyof Abilities)[]): typeof it.skip;
  /** Short for `backend.start`. */
  start(spec: ProcessSpec, options?: StartOptions): Promise<Process>;
  /** Another backend of the same kind; closed after the spec. */
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
  refusesUnknownFormats: true,
  presetsTerminal: true,
  reportsRemoval: true,
  retainsExactly: true,
  sizesEveryGap: true,
  closesPipes: true,
  signals: true,
  reportsSignals: true,
  terminatesWithGrace: true,
  sparesDetached: true,
  cancelsStarts: true,
  timeouts: true,
  merge: true,
  setsTerminal: true,
  plainTty: true,
  reportsPid: true,
  reportsSpawnFailures: true,
  stdinBackPressure: true,
  facts: true,
  ttyFacts: true,
  refusesLongLines: true,
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
      killAfterExit: false,
      exitAfterOwnOutput: false,
      findsDaemons: false,
      execErrorsOnTty: false,
      refusesUnknownFormats: false,
      presetsTerminal: false,
      facts: false,
      refusesLongLines: false,
    },
    { spawner: "portable" },
  ),
  ...remoteFactories(POSIX),
  ...codexFactories(POSIX),
];

/** One backend of each kind, for code that is built on `Process` alone. EVERY_BACKEND=1 stands for all backends. */
export const KINDS = process.env.EVERY_BACKEND
  ? undefined
  : ["local", "websocket", "cutting", "codex", "codex-reference"];

/** Runs `body` for each backend, or each one in `names`. All specs of a block share one backend with these limits. */
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
    const others: Backend[] = [];
    afterEach(async () => {
      await Promise.all(others.splice(0).map((other) => other.close({ graceMs: 0 })));
    });
    const current = (): Backend => {
      if (!backend) throw new Error("the backend exists only while the specs of its block run");
      return backend;
    };
    body({
      supports,
      killed: supports.reportsSignals ? { exitCode: null, signal: "SIGKILL" } : { exitCode: 128 + 9, signal: null },
      needs: (...abilities) => (abilities.every((ability) => supports[ability]) ? it : it.skip),
      get backend() {
        return current();
      },
      start: (spec, options) => current().start(spec, options),
      async create(changed = limits) {
        const other = await create(changed);
        others.push(other);
        return other;
      },
    });
  });
}
