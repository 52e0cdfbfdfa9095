// The sandbox of a process: what a request means, and what it keeps a command from (section 6).
import { existsSync, mkdirSync, readdirSync, writeFileSync } from "node:fs";
import { outcome } from "../observe.mjs";

const special = (value, access, more) => ({ path: { type: "special", value }, access, ...more });
const path = (uri, access) => ({ path: { type: "path", path: uri }, access });
const ROOT = special({ kind: "root" }, "read");
const WORKSPACE = special({ kind: "project_roots" }, "write");
const SKIP = { missing_path_behavior: "skip" };

/** The params of a sandbox with these entries, in the check's own folder. */
const sandboxed = (ctx, entries, { network = "restricted", ...more } = {}) => ({
  permissions: { type: "managed", file_system: { type: "restricted", entries }, network },
  cwd: ctx.uri(),
  workspaceRoots: [ctx.uri()],
  windowsSandboxLevel: "disabled",
  ...more,
});

/** Observes the end of a command in a sandbox; `more` are other fields of it. */
const runs = (id, what, { sh, entries, more, see, before, start }, expect, better) => ({
  id: `sandbox/${id}`,
  section: "6",
  what,
  needs: "sandbox",
  ...(better && { better }),
  run: async (ctx) => {
    before?.(ctx);
    const peer = await ctx.session();
    const list = typeof entries === "function" ? entries(ctx) : entries;
    const env = { PATH: "/usr/bin:/bin" };
    const spec = ctx.spec({ sh, env, ...start, sandbox: sandboxed(ctx, list, more) });
    const { error, result } = await peer.call("process/start", spec);
    if (error) return outcome({ error });
    const { exitCode, stdout } = await peer.ended(spec.processId);
    const { sandboxDenied } = peer.eventsOf(spec.processId).find(({ method }) => method === "process/exited").params;
    const seen = { exitCode, stdout, sandboxDenied };
    return { sandboxType: result.sandboxType, ...seen, ...(see && { left: see(ctx) }) };
  },
  expect:
    typeof expect === "object" ? { sandboxType: "linuxSeccomp", sandboxDenied: false, stdout: "", ...expect } : expect,
});

/** Observes how a start with this sandbox is answered. */
const answers = (id, what, sandbox, expect, only) => ({
  id: `sandbox/${id}`,
  section: "6",
  what,
  ...(only && { only }),
  run: async (ctx) => {
    const peer = await ctx.session();
    return outcome(await peer.call("process/start", ctx.spec({ sandbox: sandbox(ctx) })));
  },
  expect,
});

const files = (ctx) => readdirSync(ctx.dir).sort();
const entry = (value) => (ctx) => sandboxed(ctx, [value]);

export const sandbox = [
  runs(
    "read",
    "a read-only sandbox reads",
    { sh: "head -c 4 /etc/passwd", entries: [ROOT] },
    { exitCode: 0, stdout: "root" },
  ),
  runs(
    "read-only",
    "a read-only sandbox writes nothing, and the exit is marked as denied",
    { sh: "touch x 2>/dev/null || { touch x; exit 1; }", entries: [ROOT], see: files },
    { exitCode: 1, sandboxDenied: true, left: [] },
  ),
  runs(
    "workspace",
    "a workspace is writable, and nothing beside it",
    {
      sh: "echo in >in; echo out >../codex-checks-out && echo wrote",
      entries: [ROOT, WORKSPACE],
      see: (ctx) => files(ctx).includes("in"),
    },
    { exitCode: 2, sandboxDenied: true, left: true },
  ),
  runs(
    "protected",
    "what programs trust in a workspace is not writable, also if it is missing",
    {
      before: (ctx) => mkdirSync(ctx.path(".git")),
      sh: "for it in .git .agents .codex; do mkdir -p $it/a 2>/dev/null && echo made $it; done; exit 0",
      entries: [ROOT, WORKSPACE],
      see: (ctx) => existsSync(ctx.path(".git/a")),
    },
    { exitCode: 0, left: false },
  ),
  runs(
    "skip",
    "a subpath that is missing is protected, also if the entry says that it may be skipped",
    {
      sh: "mkdir .mine 2>/dev/null && echo made; exit 0",
      entries: [ROOT, WORKSPACE, special({ kind: "project_roots", subpath: ".mine" }, "read", SKIP)],
    },
    { exitCode: 0 },
  ),
  runs(
    "subpath",
    "a subpath that is missing is protected",
    {
      sh: "mkdir .mine 2>/dev/null && echo made; exit 0",
      entries: [ROOT, WORKSPACE, special({ kind: "project_roots", subpath: ".mine" }, "read")],
    },
    { exitCode: 0 },
  ),
  ...["deny", "none"].map((access) =>
    runs(
      `access-${access}`,
      `a file with the access ${access} is not readable`,
      {
        before: (ctx) => writeFileSync(ctx.path("secret"), "secret"),
        sh: "cat secret",
        entries: (ctx) => [ROOT, path(ctx.uri("secret"), access)],
      },
      { exitCode: 1, sandboxDenied: true },
    ),
  ),
  runs(
    "missing-writable",
    "a writable path that does not exist is skipped",
    { sh: "echo ran", entries: (ctx) => [ROOT, path(ctx.uri("missing"), "write")] },
    { exitCode: 0, stdout: "ran\n" },
  ),
  runs(
    "path",
    "a path is writable by its URI",
    { sh: "echo a >in && cat in", entries: (ctx) => [ROOT, path(ctx.uri(), "write")] },
    { exitCode: 0, stdout: "a\n" },
  ),
  runs(
    "cwd",
    "the working directory of the sandbox is writable by its name",
    { sh: "echo a >in && cat in", entries: [ROOT, special({ kind: "current_working_directory" }, "write")] },
    { exitCode: 0, stdout: "a\n" },
  ),
  runs(
    "minimal",
    "with the minimal paths a program runs, and home directories are hidden",
    {
      sh: "[ -e /root ] || [ -e /home ] || echo hidden; grep -c : /etc/passwd >/dev/null",
      entries: [special({ kind: "minimal" }, "read"), special({ kind: "project_roots" }, "read")],
    },
    { exitCode: 0, stdout: "hidden\n" },
  ),
  {
    ...runs(
      "minimal-secrets",
      "the minimal paths have no secrets",
      {
        sh: "cat /etc/shadow 2>/dev/null | head -c 0; [ -e /etc/shadow ] && echo seen; exit 0",
        entries: [special({ kind: "minimal" }, "read")],
      },
      { exitCode: 0, stdout: "seen\n" },
    ),
    better: {
      why: "a server that runs as root would show its password hashes",
      expect: { sandboxType: "linuxSeccomp", sandboxDenied: false, stdout: "", exitCode: 0 },
    },
  },
  runs(
    "no-roots",
    "without workspace roots the entry for them stands for nothing",
    {
      before: (ctx) => writeFileSync(ctx.path("file"), "excluded"),
      sh: "cat file && echo read",
      entries: [ROOT, special({ kind: "project_roots" }, "write")],
      more: { workspaceRoots: [] },
      start: {},
    },
    { exitCode: 0, stdout: "excludedread\n" },
  ),
  runs(
    "unknown",
    "an unknown special path grants nothing",
    { sh: "echo ran", entries: [ROOT, special({ kind: "unknown", path: ":x" }, "write")] },
    { exitCode: 0, stdout: "ran\n" },
  ),
  runs(
    "network",
    "without network a command has no interface but its own loopback",
    { sh: "grep -c : /proc/net/dev", entries: [ROOT] },
    { exitCode: 0, stdout: "1\n" },
  ),
  runs(
    "arg0",
    "arg0 works in a sandbox",
    { sh: 'printf %s "$0"', entries: [ROOT], start: { arg0: "custom-arg0" } },
    { exitCode: 0, stdout: "custom-arg0" },
  ),
  answers("entry", "an entry without a path is refused", entry({}), -32602),
  answers("entry-type", "an unknown type of path is refused", entry({ path: { type: "zz" }, access: "read" }), -32602),
  answers("entry-kind", "an unknown kind of special path is refused", entry(special({ kind: "zz" }, "read")), -32602),
  answers("entry-access", "an unknown access is refused", entry({ ...ROOT, access: "zz" }), -32602),
  answers("entry-native", "a native path is refused", entry(path("/tmp", "read")), -32602),
  answers(
    "entry-missing",
    "an unknown behaviour for missing paths is refused",
    entry({ ...ROOT, missing_path_behavior: "zz" }),
    -32602,
  ),
  answers(
    "mxc",
    "the sandbox of another system is refused",
    (ctx) => sandboxed(ctx, [ROOT], { windowsSandboxLevel: "mxc" }),
    "-32602 sandboxUnavailable",
  ),
  answers(
    "glob",
    "a pattern is refused, since it cannot be enforced",
    entry({ path: { type: "glob_pattern", pattern: "**/.env" }, access: "deny" }),
    "-32602 sandboxUnavailable",
    "ours",
  ),
  answers(
    "above",
    "a subpath that leaves its root is refused",
    entry(special({ kind: "project_roots", subpath: "../x" }, "read")),
    -32602,
    "ours",
  ),
];
