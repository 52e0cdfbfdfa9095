// How a child finds itself: its environment, streams, terminal, group (section 3, envPolicy, child set-up).
import { outcome } from "../observe.mjs";

const POLICY = { inherit: "none", ignoreDefaultExcludes: true, exclude: [], set: {}, includeOnly: [] };
const PATH = { PATH: "/usr/bin:/bin" };

/** What `printenv` has to say: an object of the variables, but for those that differ between servers. */
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
    // Which shell is the user's is not the protocol's business.
    const named = pairs.map(([name, value]) => [name, name === "SHELL" ? "a shell" : value]);
    return Object.fromEntries(named.filter(([name]) => wanted(name)).sort());
  },
  expect,
});

/** envPolicy with `policy`, in which PATH is not looked at: the reference adds a folder of its own to it. */
const filtered = (id, what, policy, expect, start = {}) =>
  environment(id, what, { envPolicy: { ...POLICY, ...policy }, ...start }, expect, (name) => name !== "PATH");

/** Which of the variables that only the checks know are inherited. */
const inherited = (id, what, policy, expect) =>
  environment(id, what, { envPolicy: { ...POLICY, ...policy } }, expect, (name) => name.startsWith("CHECK_"));

const says = (id, what, options, expect) => ({
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
    "a tty child gains SHELL and no TERM",
    { env: { A: "1" }, tty: true },
    { A: "1", SHELL: "a shell" },
  ),
  filtered(
    "policy-none",
    "inherit none with set and env gives these two, env last",
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
  inherited("policy-core", "inherit core leaves other variables out", { inherit: "core" }, {}),
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
    "includeOnly keeps what matches, in any case",
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
    "exclude and the default excludes touch neither set nor env",
    { set: { A_KEY: "1" }, exclude: ["A*"], ignoreDefaultExcludes: false },
    { A_KEY: "1", A_TOKEN: "2" },
    { env: { A_TOKEN: "2" } },
  ),
  {
    id: "child/policy-incomplete",
    section: "3",
    what: "every field of a policy is required, and inherit is all, core or none",
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
    "metadata sets the thread and the tool call, over env",
    { env: OLD, metadata: { threadId: THREAD, toolCallId: "call" } },
    { CODEX_THREAD_ID: THREAD, CODEX_TOOL_CALL_ID: "call" },
    isMetadata,
  ),
  environment("metadata-empty", "empty metadata clears both", { env: OLD, metadata: {} }, {}, isMetadata),
  environment(
    "metadata-absent",
    "without metadata the thread of env stays and the tool call goes",
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
  says("path", "argv[0] is looked up in PATH of env", { argv: ["echo", "found"] }, "found\n"),
  says(
    "path-default",
    "without a PATH in env programs are looked for where they usually are",
    { argv: ["echo", "found"], env: {} },
    "found\n",
  ),
  says("arg0", "arg0 is what the program sees as its name", { sh: "echo $0", arg0: "other" }, "other\n"),
  says("stdin-null", "stdin is /dev/null without pipeStdin", { sh: "readlink /proc/self/fd/0; cat" }, "/dev/null\n"),
  says(
    "no-descriptors",
    "a child has no descriptors of the server",
    { sh: "n=3; while [ $n -lt 64 ]; do [ -e /proc/$$/fd/$n ] && echo $n; n=$((n + 1)); done; echo looked" },
    "looked\n",
  ),
  says("leader", "a child leads its own session and group", { sh: LEADER }, "leader\n"),
  says("tty-leader", "a tty child leads its own session and group", { sh: LEADER, tty: true }, "leader\r\n"),
  says("tty-size", "a tty has 24 rows and 80 columns", { sh: "stty size", tty: true }, "24 80\r\n"),
  says(
    "tty-streams",
    "all three streams of a tty child are the terminal",
    { sh: "test -t 0 && test -t 1 && test -t 2 && echo all", tty: true },
    "all\r\n",
  ),
  says(
    "signals",
    "a child blocks no signal",
    { sh: "grep -E 'SigBlk' /proc/$$/status | tr -d '\\t'" },
    "SigBlk:0000000000000000\n",
  ),
];
