// The state of a new child: its environment, streams, terminal, group (section 3, envPolicy, child set-up).
import { outcome } from "../observe.mjs";

const POLICY = { inherit: "none", ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] };
const PATH = { PATH: "/usr/bin:/bin" };

/** The variables that `env` prints, as an object, without those that differ between servers. */
const environment = (id, what, start, expect, wanted = () => true) => ({
  id: `child/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const { stdout, pty } = await ctx.run(await ctx.session(), { argv: ["/usr/bin/env"], ...start });
    const pairs = (stdout + pty)
      .split(/\r?\n/)
      .filter((line) => line.includes("="))
      .map((line) => line.split("="));
    // The protocol does not specify which shell is the user's.
    const named = pairs.map(([name, value]) => [name, name === "SHELL" ? "a shell" : value]);
    return Object.fromEntries(named.filter(([name]) => wanted(name)).sort());
  },
  expect,
});

/** Checks envPolicy with `policy`, without PATH: the Codex exec-server adds its own folder to it. */
const filtered = (id, what, policy, expect, start = {}) =>
  environment(id, what, { envPolicy: { ...POLICY, ...policy }, ...start }, expect, (name) => name !== "PATH");

/** Checks which of the checks' own variables are inherited. */
const inherited = (id, what, policy, expect) =>
  environment(id, what, { envPolicy: { ...POLICY, ...policy } }, expect, (name) => name.startsWith("CHECK_"));

const prints = (id, what, options, expect) => ({
  id: `child/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const { stdout, pty } = await ctx.run(await ctx.session(), { env: PATH, ...options });
    return stdout + pty;
  },
  expect,
});

const THREAD = "01a22829-0000-4000-8000-000000000000";
const isMetadata = (name) => name.startsWith("CODEX_T");
const OLD = { CODEX_THREAD_ID: "old", CODEX_TOOL_CALL_ID: "old" };

/** Prints whether the shell leads its session and its group. */
const LEADER =
  'read -r pid name state parent group session rest </proc/self/stat; [ "$pid $pid" = "$group $session" ] && echo leader';

export const child = [
  environment(
    "env-exact",
    "without a policy env is the whole environment",
    { env: { A: "1", B: "" } },
    { A: "1", B: "" },
  ),
  environment("env-empty", "an empty env is an empty environment", {}, {}),
  environment(
    "env-tty",
    "a tty child gets SHELL but not TERM",
    { env: { A: "1" }, tty: true },
    { A: "1", SHELL: "a shell" },
  ),
  environment(
    "tty-policy",
    "a tty child gets SHELL with an envPolicy too",
    { tty: true, env: { A: "1" }, envPolicy: POLICY },
    { A: "1", SHELL: "a shell" },
    (name) => name !== "PATH",
  ),
  filtered(
    "policy-none",
    "inherit none uses only set and env, env last",
    { set: { A: "1", B: "2" } },
    { A: "1", B: "3" },
    { env: { B: "3" } },
  ),
  inherited(
    "policy-all",
    "inherit all gives the environment of the server",
    { inherit: "all" },
    { CHECK_PLAIN: "plain", CHECK_SECRET_KEY: "secret" },
  ),
  inherited("policy-core", "inherit core omits other variables", { inherit: "core" }, {}),
  environment(
    "policy-core-home",
    "inherit core keeps HOME and PATH",
    {
      envPolicy: { ...POLICY, inherit: "core" },
      argv: ["/bin/sh", "-c", 'test -n "$HOME" && test -n "$PATH" && echo A=both'],
    },
    { A: "both" },
  ),
  inherited(
    "policy-secrets",
    "the default excludes drop names with KEY, SECRET or TOKEN",
    { inherit: "all", ignoreDefaultExcludes: false },
    { CHECK_PLAIN: "plain" },
  ),
  inherited(
    "policy-exclude",
    "exclude patterns match in any case",
    { inherit: "all", exclude: ["check_*_key"] },
    { CHECK_PLAIN: "plain" },
  ),
  inherited(
    "policy-include-only",
    "includeOnly keeps matching names, in any case",
    { inherit: "all", includeOnly: ["*_plain"] },
    { CHECK_PLAIN: "plain" },
  ),
  filtered(
    "policy-include-only-set",
    "includeOnly filters set, but not env",
    { set: { A: "1", B: "2" }, includeOnly: ["B"] },
    { B: "2", C: "3" },
    { env: { C: "3" } },
  ),
  filtered(
    "policy-exclude-set",
    "exclude and the default excludes affect neither set nor env",
    { set: { A_KEY: "1" }, exclude: ["A*"], ignoreDefaultExcludes: false },
    { A_KEY: "1", A_TOKEN: "2" },
    { env: { A_TOKEN: "2" } },
  ),
  {
    id: "child/policy-incomplete",
    section: "3",
    what: "every field of a policy is required, and inherit must be all, core or none",
    run: async (ctx) => {
      const peer = await ctx.session();
      const policies = Object.keys(POLICY).map((name) => ({ ...POLICY, [name]: undefined }));
      const answers = [];
      for (const envPolicy of [...policies, { ...POLICY, inherit: "some" }]) {
        answers.push(outcome(await peer.call("process/start", ctx.spec({ envPolicy }))));
      }
      return answers;
    },
    expect: [-32602, -32602, -32602, -32602, -32602, -32602],
  },
  environment(
    "metadata",
    "metadata sets the thread and the tool call, and overrides env",
    { env: OLD, metadata: { threadId: THREAD, toolCallId: "call" } },
    { CODEX_THREAD_ID: THREAD, CODEX_TOOL_CALL_ID: "call" },
    isMetadata,
  ),
  environment("metadata-empty", "empty metadata clears both", { env: OLD, metadata: {} }, {}, isMetadata),
  environment(
    "metadata-absent",
    "without metadata the thread of env is kept and the tool call removed",
    { env: OLD },
    { CODEX_THREAD_ID: "old" },
    isMetadata,
  ),
  {
    id: "child/metadata-no-uuid",
    section: "3",
    what: "a thread that is not a UUID is -32602",
    run: async (ctx) =>
      outcome(await (await ctx.session()).call("process/start", ctx.spec({ metadata: { threadId: "x" } }))),
    expect: -32602,
  },
  prints("path", "argv[0] is looked up in PATH of env", { argv: ["echo", "found"] }, "found\n"),
  prints(
    "path-default",
    "without a PATH in env programs are looked up in the usual folders",
    { argv: ["echo", "found"], env: {} },
    "found\n",
  ),
  prints("arg0", "arg0 is the name that the program sees", { sh: "echo $0", arg0: "other" }, "other\n"),
  prints("stdin-null", "stdin is /dev/null without pipeStdin", { sh: "readlink /proc/self/fd/0; cat" }, "/dev/null\n"),
  prints(
    "no-descriptors",
    "a child has no descriptors of the server",
    { sh: "n=3; while [ $n -lt 64 ]; do [ -e /proc/$$/fd/$n ] && echo $n; n=$((n + 1)); done; echo looked" },
    "looked\n",
  ),
  prints("leader", "a child leads its own session and group", { sh: LEADER }, "leader\n"),
  prints("tty-leader", "a tty child leads its own session and group", { sh: LEADER, tty: true }, "leader\r\n"),
  prints("tty-size", "a tty has 24 rows and 80 columns", { sh: "stty size", tty: true }, "24 80\r\n"),
  prints(
    "tty-streams",
    "all three streams of a tty child are the terminal",
    { sh: "test -t 0 && test -t 1 && test -t 2 && echo all", tty: true },
    "all\r\n",
  ),
  prints(
    "signals",
    "a child blocks no signal",
    { sh: "grep -E 'SigBlk' /proc/$$/status | tr -d '\\t'" },
    "SigBlk:0000000000000000\n",
  ),
];
