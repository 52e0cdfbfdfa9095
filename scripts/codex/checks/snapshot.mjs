// Snapshots of the user's shell: start-up files that run once for all commands of a scope (sections 3 and 6).
import { readFileSync, writeFileSync } from "node:fs";
import { outcome } from "../observe.mjs";

const BASH = { name: "bash", path: "/bin/bash" };
const STARTUP = `printf x >> "$HOME/captures"
export ALLOWED=profile PROFILE_SECRET=secret DENIED=denied
helper() { printf helper; }
shopt -s extglob nocasematch
eval 'helper() { case $1 in @(foo|bar)*) printf helper ;; *) return 1 ;; esac; }'
set -u
unset() { exit 41; }
builtin() { :; }
`;

/** Runs a script twice with a snapshot and these start-up files; observes both outputs and how often the files ran. */
const twice = (id, what, { sh, startup = STARTUP, start = {}, shell = BASH, scopes = ["scope", "scope"] }, expect) => ({
  id: `snapshot/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    writeFileSync(ctx.path(".bashrc"), startup);
    const peer = await ctx.session();
    const set = { HOME: ctx.dir, PATH: "/usr/bin:/bin" };
    const policy = { inherit: "none", ignoreDefaultExcludes: false, exclude: ["DENIED"], set, includeOnly: [] };
    const seen = [];
    for (const scopeId of scopes) {
      const argv = ["/bin/bash", "-lc", sh];
      const { stdout, pty, exitCode } = await ctx.run(peer, {
        argv,
        envPolicy: policy,
        shellSnapshot: { scopeId, shell },
        ...start,
      });
      seen.push(`${stdout}${pty}`.replaceAll("\r", ""), exitCode);
    }
    return [...seen, readFileSync(ctx.path("captures"), "utf8")];
  },
  expect,
});

const PRINT =
  'case $- in *u*) ;; *) exit 42 ;; esac; helper FOObar; export -p | grep -q "SECRET=|DENIED=" && printf leaked; printf "|$ALLOWED"';

export const snapshots = [
  twice("once", "start-up files run once, and set up both commands", { sh: PRINT }, [
    "helper|profile",
    0,
    "helper|profile",
    0,
    "x",
  ]),
  twice("tty", "also on a terminal", { sh: PRINT, start: { tty: true } }, [
    "helper|profile",
    0,
    "helper|profile",
    0,
    "x",
  ]),
  twice("scopes", "each scope has its own", { sh: "helper foo", scopes: ["one", "two"] }, [
    "helper",
    0,
    "helper",
    0,
    "xx",
  ]),
  twice("arguments", "the command has its own name and arguments", { sh: 'printf "%s|" "$0" "$@"' }, [
    "/bin/bash|",
    0,
    "/bin/bash|",
    0,
    "x",
  ]),
  twice(
    "fails",
    "start-up files that fail leave the plain shell",
    { sh: "command -v helper || printf plain", startup: 'printf x >> "$HOME/captures"\nexit 7\n', scopes: ["scope"] },
    ["plain", 0, "x"],
  ),
  {
    id: "snapshot/params",
    section: "3",
    what: "a snapshot without its shell is refused",
    run: async (ctx) =>
      outcome(await (await ctx.session()).call("process/start", ctx.spec({ shellSnapshot: { scopeId: "s" } }))),
    expect: -32602,
  },
];
