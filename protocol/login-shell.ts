// Login shells whose set-up a host can capture, by the argv of a process.
import type { ProcessSpec } from "./process.ts";

/** Shells with the same language. */
export type ShellLanguage = "bash" | "posix" | "zsh";

const LANGUAGES: Readonly<Record<string, ShellLanguage>> = { bash: "bash", zsh: "zsh", sh: "posix", dash: "posix" };

/** The language of the shell in an argv of a shell, `-lc` and a script; undefined for any other. */
export function loginShell({ argv, arg0 }: Pick<ProcessSpec, "argv" | "arg0">): ShellLanguage | undefined {
  const [program = "", flag, script] = argv;
  if (flag !== "-lc" || script === undefined) return undefined;
  return languageOf(arg0) ?? languageOf(program);
}

/** By its name, which may begin with the hyphen of a login shell. */
function languageOf(path = ""): ShellLanguage | undefined {
  const name = path.slice(path.lastIndexOf("/") + 1).replace(/^-/, "");
  return Object.hasOwn(LANGUAGES, name) ? LANGUAGES[name] : undefined;
}
