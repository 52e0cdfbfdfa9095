// Translates a process spec to what the spawner needs: environment, program, terminal.
import type { Limits, ProcessSpec, TtyOptions } from "../../protocol/index.ts";
import type { Launch, TtyLaunch } from "../spawn/child.ts";
import { buildEnvironment } from "../spawn/environment.ts";
import { resolveProgram } from "../spawn/resolve-program.ts";
import { checkLengths, spawnFailed } from "../spawn/spawn-error.ts";

/** Default size of a terminal. With zero, full-screen programs would draw nothing. */
const DEFAULT_SIZE = { rows: 24, cols: 80 };

/**
 * Resolves a checked spec against this program's environment. Rejects with SPAWN_FAILED when the program does not exist or an
 * argument is too long, and with LIMIT_EXCEEDED when matching the globs for its environment takes too many steps.
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

/** Our own directory, the default for a process. Throws SPAWN_FAILED (cwd-not-found) when it has been removed. */
export function ownDirectory(): string {
  try {
    return process.cwd();
  } catch (cause) {
    const message = "the working directory of the supervisor does not exist any more; set `cwd` for this process";
    throw spawnFailed("cwd-not-found", message, ".", cause);
  }
}

function ttyOf({ rows, cols, echo, raw }: TtyOptions): TtyLaunch {
  return { rows: rows ?? DEFAULT_SIZE.rows, cols: cols ?? DEFAULT_SIZE.cols, echo: echo ?? true, raw: raw ?? false };
}
