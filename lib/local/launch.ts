// From what was asked for to what is spawned: environment, program, terminal.
import type { Limits, ProcessSpec, TtyOptions } from "../../protocol/index.ts";
import type { Launch, TtyLaunch } from "../spawn/child.ts";
import { buildEnvironment } from "../spawn/environment.ts";
import { resolveProgram } from "../spawn/resolve-program.ts";
import { checkLengths, spawnFailed } from "../spawn/spawn-error.ts";

/** The size a terminal has where nobody says otherwise. Zero would make full-screen programs draw nothing. */
const DEFAULT_SIZE = { rows: 24, cols: 80 };

/**
 * Resolves a checked spec against this program's environment. Rejects with SPAWN_FAILED when there is no such program or
 * an argument is too long, and with LIMIT_EXCEEDED when the globs for its environment make too much work.
 */
export async function prepareLaunch(
  spec: ProcessSpec,
  cwd: string,
  { envGlobSteps, argBytes }: Pick<Limits, "envGlobSteps" | "argBytes">,
): Promise<Launch> {
  const env = buildEnvironment(spec, process.env, envGlobSteps);
  const [program = "", ...args] = spec.argv;
  const file = await resolveProgram(program, cwd, env.PATH);
  const argv = [spec.arg0 ?? program, ...args];
  checkLengths(file, argv, env, argBytes);
  return {
    file,
    argv,
    cwd,
    env,
    tty: spec.tty ? ttyOf(spec.tty === true ? {} : spec.tty) : undefined,
    pipeStdin: spec.pipeStdin ?? false,
    merge: spec.merge ?? false,
    inheritFds: spec.inheritFds ?? [],
  };
}

/** The directory of a process that was given none: ours. Throws SPAWN_FAILED (cwd-not-found) when it was removed under us. */
export function ownDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const message =
      "the working directory of the supervisor itself does not exist any more; give the process another one";
    throw spawnFailed("cwd-not-found", message, ".", cause);
  }
}

function ttyOf({ rows, cols, echo, raw }: TtyOptions): TtyLaunch {
  return { rows: rows ?? DEFAULT_SIZE.rows, cols: cols ?? DEFAULT_SIZE.cols, echo: echo ?? true, raw: raw ?? false };
}
