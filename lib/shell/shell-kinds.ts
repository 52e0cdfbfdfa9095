// The shells whose set-up can be captured: what a capture runs in each of them, and the flags of one that reads no start-up file.
//
// Start-up files may redefine every builtin, and set any alias and option. So a capture works in subshells, whose changes are lost,
// and first removes the functions that stand in its way. In bash it does so in POSIX mode: an assignment turns it on, and no
// function hides `unset` there. A backslash keeps aliases away.
import type { ShellLanguage } from "../../protocol/index.ts";

/** The descriptor that a capture writes to, and from which a replay is read. A POSIX shell only redirects those of one digit. */
export const SHELL_FD = 9;

/** The last part of a complete capture. */
export const COMPLETE = "complete";

/** How one kind of shell is captured and started. */
export interface ShellKind {
  readonly name: ShellLanguage;
  /**
   * A script for `-lc`, which runs after the start-up files of a login shell. It writes parts that end with a NUL: the state, the
   * functions, the functions that would disturb a replay, each variable; then the mark of a complete capture.
   */
  readonly capture: string;
  readonly flags: readonly string[];
  /** Makes even a shell with these flags read a start-up file. A replay sets it afterwards. */
  readonly startupVariable?: string;
}

/** Names that a replay itself uses: functions with these names are defined at its very end. */
const LAST_FUNCTIONS =
  "alias builtin cd command declare echo enable eval exec exit export local printf readonly return set shift shopt source test " +
  "trap unalias unset";

const NUL = `/usr/bin/printf '\\0' >&${SHELL_FD}`;
/** By path, since the start-up files may have set any PATH. */
const VARIABLES = `/usr/bin/env -0 >&${SHELL_FD}
/usr/bin/printf ${COMPLETE} >&${SHELL_FD}`;

/** Options, functions and aliases of bash. */
const BASH_STATE = `(
  options=$SHELLOPTS shopts=$BASHOPTS
  POSIXLY_CORRECT=1
  \\unset -f printf alias
  \\printf 'options %s\\nshopts %s\\n' "$options" "$shopts" >&${SHELL_FD}
  \\alias -p >&${SHELL_FD}
)
${NUL}
( POSIXLY_CORRECT=1; \\unset -f ${LAST_FUNCTIONS} typeset; \\declare -f >&${SHELL_FD} )
${NUL}
( POSIXLY_CORRECT=1; \\unset -f typeset; for name in ${LAST_FUNCTIONS}; do \\typeset -f $name; done >&${SHELL_FD} )
( POSIXLY_CORRECT=1; \\unset -f declare; \\declare -f typeset >&${SHELL_FD} )
${NUL}`;

const BASH: ShellKind = {
  name: "bash",
  capture: `if [ -z "\${BASH_ENV-}" ] && [ -r "\${HOME-}/.bashrc" ]; then . "$HOME/.bashrc"; fi
${BASH_STATE}
${VARIABLES}`,
  flags: ["--noprofile", "--norc"],
  startupVariable: "BASH_ENV",
};

/** Also bash under the name sh. Other shells of this name cannot list their functions. */
const POSIX: ShellKind = {
  name: "posix",
  capture: `if [ -n "\${ENV-}" ]; then
  eval "set -- \\"$ENV\\""
  if [ -r "$1" ]; then . "$1"; fi
fi
if [ -n "\${BASH_VERSION-}" ]; then
${BASH_STATE}
else
  ( \\set +o; \\alias | while IFS= read -r line; do /usr/bin/printf 'alias %s\\n' "$line"; done ) >&${SHELL_FD}
  ${NUL}
  ${NUL}
  ${NUL}
fi
${VARIABLES}`,
  flags: [],
};

/** \`typeset\` is a reserved word there, which no function hides. */
const ZSH: ShellKind = {
  name: "zsh",
  capture: `if [ -r "\${ZDOTDIR:-$HOME}/.zshrc" ]; then . "\${ZDOTDIR:-$HOME}/.zshrc"; fi
( \\unfunction setopt alias 2>/dev/null
  for it in \${(f)"$(\\setopt)"}; do /usr/bin/printf 'setopt %s\\n' $it; done
  \\alias -L ) >&${SHELL_FD}
${NUL}
( typeset -f ) >&${SHELL_FD}
${NUL}
${NUL}
${VARIABLES}`,
  flags: ["-f"],
};

/** By the language of the shell. */
export const SHELL_KINDS: Readonly<Record<ShellLanguage, ShellKind>> = { bash: BASH, posix: POSIX, zsh: ZSH };
