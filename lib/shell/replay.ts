// What a capture has found, as a script that gives a later command the same set-up. Variables come first; functions that would
// disturb the script itself come last.
import { COMPLETE, SHELL_FD, type ShellKind } from "./shell-kinds.ts";

/** The set-up of a shell. */
export interface Captured {
  /** Shell code or lists, as the kind of shell prints them. */
  readonly state: string;
  readonly functions: string;
  readonly lastFunctions: string;
  /** Variables that the start-up files have added or changed; undefined where they have removed one. */
  readonly variables: ReadonlyMap<string, string | undefined>;
}

/** Variables of the shell itself. */
const OWN_VARIABLES = new Set(["_", "PWD", "OLDPWD", "SHLVL", "POSIXLY_CORRECT", "SHELLOPTS", "BASHOPTS"]);
/** A name that a shell can assign to. */
const NAME = /^[A-Za-z_][A-Za-z0-9_]*$/;
const EXPORTED_FUNCTION = /^BASH_FUNC_(.+)%%$/;

/** Options that would stop or disturb the rest of a script: set at its end. */
const LAST_OPTIONS = new Set(["errexit", "nounset", "noexec", "noglob", "noclobber", "xtrace", "verbose"]);
/** Of bash's own options, those that only an invocation sets. */
const FIXED_SHOPTS = new Set(["login_shell", "restricted_shell"]);
const DEFAULT_OPTIONS = ["braceexpand", "hashall", "interactive-comments"];

/** Reads the output of a capture that started with these variables; undefined if it is not complete. */
export function readCapture(output: string, before: ReadonlyMap<string, string>): Captured | undefined {
  const parts = output.split("\0");
  if (parts.length < 4 || parts.at(-1) !== COMPLETE) return undefined;
  const [state = "", functions = "", lastFunctions = "", ...entries] = parts.slice(0, -1);
  const after = new Map(entries.map(splitEntry));
  const variables = new Map<string, string | undefined>();
  for (const [name, value] of after) {
    if (!OWN_VARIABLES.has(name) && before.get(name) !== value) variables.set(name, value);
  }
  for (const name of before.keys()) if (!OWN_VARIABLES.has(name) && !after.has(name)) variables.set(name, undefined);
  return { state, functions, lastFunctions, variables };
}

/** The script. `startup` is the value of the kind's start-up variable, which the shell was started without. */
export function replayScript(
  kind: ShellKind,
  captured: Captured,
  startup: string | undefined,
  isKept: (name: string) => boolean,
): string {
  const { state, functions, lastFunctions, variables } = captured;
  const { early, aliases, late } = kind.name === "zsh" ? zshState(state) : posixState(state);
  const exportedFunctions = [...variables.keys()].flatMap((name) => EXPORTED_FUNCTION.exec(name)?.[1] ?? []);
  const isRestored = kind.startupVariable !== undefined && !variables.has(kind.startupVariable);
  return [
    isRestored && startup !== undefined ? assignment(kind.startupVariable as string, startup) : "",
    ...[...variables]
      .filter(([name]) => NAME.test(name) && isKept(name))
      .map(([name, value]) => assignment(name, value)),
    ...early,
    functions,
    ...exportedFunctions.filter((name) => NAME.test(name)).map((name) => `export -f ${name}`),
    ...aliases,
    `\\exec ${SHELL_FD}<&-`,
    ...late,
    lastFunctions,
  ]
    .filter((line) => line !== "")
    .join("\n");
}

function assignment(name: string, value: string | undefined): string {
  return value === undefined ? `unset ${name}` : `export ${name}='${value.replaceAll("'", `'\\''`)}'`;
}

interface State {
  readonly early: readonly string[];
  readonly aliases: readonly string[];
  readonly late: readonly string[];
}

/** bash lists the names of its options; other shells print commands. */
function posixState(state: string): State {
  const lines = state.split("\n");
  const listOf = (name: string) =>
    lines
      .find((line) => line.startsWith(`${name} `))
      ?.slice(name.length + 1)
      .split(":");
  const [options, shopts] = [listOf("options"), listOf("shopts")];
  if (!options || !shopts) {
    const set = lines.filter((line) => line.startsWith("set -o "));
    return { early: [], aliases: [aliasLines(lines.filter((line) => !/^set [+-]o /.test(line)))], late: set };
  }
  const isLate = (name: string) => LAST_OPTIONS.has(name);
  const early = shopts.filter((name) => name !== "expand_aliases" && !FIXED_SHOPTS.has(name));
  return {
    early: [
      // biome-ignore lint/suspicious/noTemplateCurlyInString: shell code
      "shopt -u ${BASHOPTS//:/ } 2>/dev/null",
      `shopt -s ${early.join(" ")} 2>/dev/null`,
      ...DEFAULT_OPTIONS.filter((name) => !options.includes(name)).map((name) => `set +o ${name}`),
      ...options.filter((name) => name !== "posix" && !isLate(name)).map((name) => `set -o ${name} 2>/dev/null`),
    ],
    aliases: [aliasLines(lines.filter((line) => !/^(options|shopts) /.test(line)))],
    late: [
      shopts.includes("expand_aliases") ? "\\shopt -s expand_aliases" : "",
      ...options.filter(isLate).map((name) => `\\set -o ${name}`),
    ],
  };
}

function zshState(state: string): State {
  const lines = state.split("\n");
  const options = lines.filter((line) => line.startsWith("setopt ")).map((line) => line.slice("setopt ".length));
  // These belong to the shell that was captured, not to its set-up.
  const own = options.filter(
    (name) => name !== "" && !/^(no)?(rcs|login|interactive|shinstdin|monitor|zle)$/.test(name),
  );
  return {
    early: [],
    aliases: [aliasLines(lines.filter((line) => !line.startsWith("setopt ")))],
    late: own.length === 0 ? [] : [`\\setopt ${own.join(" ")}`],
  };
}

/** An alias may span lines. */
function aliasLines(lines: readonly string[]): string {
  return lines.join("\n").trim();
}

function splitEntry(entry: string): [string, string] {
  const equals = entry.indexOf("=", 1);
  return equals < 0 ? [entry, ""] : [entry.slice(0, equals), entry.slice(equals + 1)];
}
