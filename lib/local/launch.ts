// Translates a process spec to what the spawner needs: environment, program, terminal.
import type { Limits, ProcessSpec, TtyOptions } from "../../protocol/index.ts";
import type { Launch, TtyLaunch } from "../spawn/child.ts";
import { buildEnvironment, environmentEntries } from "../spawn/environment.ts";
import { resolveProgram } from "../spawn/resolve-program.ts";
import { checkLengths } from "../spawn/spawn-error.ts";
import { ownDirectory, startState } from "../spawn/start-state.ts";

/** Default size of a terminal. With zero, full-screen programs would draw nothing. */
const DEFAULT_SIZE = { rows: 24, cols: 80 };

/**
 * Resolves a checked spec against this program's environment. Rejects with SPAWN_FAILED when the program does not exist or an
 * argument is too long, and with LIMIT_EXCEEDED when matching the globs for its environment takes too many steps.
 */
export async function prepareLaunch(
  spec: ProcessSpec,
  ownCwd: string | undefined,
  { envGlobSteps, argBytes }: Pick<Limits, "envGlobSteps" | "argBytes">,
): Promise<Launch> {
  const env = buildEnvironment(spec, process.env, envGlobSteps);
  // Unless this program has moved on since the start was requested, the child stays where it is.
  const cwd = spec.cwd ?? (ownCwd === ownDirectory() ? undefined : ownCwd);
  const [program = "", ...args] = spec.argv;
  const file = await resolveProgram(program, cwd, env.PATH);
  const argv = [spec.arg0 ?? program, ...args];
  checkLengths(file, argv, env, argBytes);
  return {
    file,
    argv,
    cwd,
    env: environmentEntries(env, spec, startState().environment),
    tty: spec.tty ? ttyOf(spec.tty === true ? {} : spec.tty) : undefined,
    pipeStdin: spec.pipeStdin ?? false,
    merge: spec.merge ?? false,
    inheritFds: spec.inheritFds ?? [],
  };
}

function ttyOf({ rows, cols, echo, raw }: TtyOptions): TtyLaunch {
  return { rows: rows ?? DEFAULT_SIZE.rows, cols: cols ?? DEFAULT_SIZE.cols, echo: echo ?? true, raw: raw ?? false };
}
