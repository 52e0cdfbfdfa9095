// The outcome of a start: its working directory, why it fails, and its id (section 3).
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { outcome, refusal } from "../observe.mjs";
import { answered } from "./starting.mjs";

/** Observes what a shell command prints if its start has the changes `change`. */
const printing = (id, what, change, expect) => ({
  id: `start/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const options = typeof change === "function" ? change(ctx) : change;
    const { exitCode, stdout, stderr } = await ctx.run(await ctx.session(), options);
    return { exitCode, stdout: stdout.replaceAll(ctx.dir, "DIR"), stderr };
  },
  expect: { exitCode: 0, stdout: expect, stderr: "" },
});

/** Creates a file in the scratch folder and returns its path. */
function file(ctx, content, mode) {
  writeFileSync(ctx.path("file"), content);
  chmodSync(ctx.path("file"), mode);
  return ctx.path("file");
}

function folder(ctx, name) {
  mkdirSync(ctx.path(name));
  return ctx.uri(name);
}

const PWD = { argv: ["/bin/pwd"] };

export const spawn = [
  printing(
    "env-names",
    "names of variables may hold blanks, dots and dashes",
    { argv: ["/usr/bin/env"], env: { "A B": "1", "a.b-c": "2" } },
    "A B=1\na.b-c=2\n",
  ),
  printing(
    "env-equals",
    "a name ends at its first =, for the program",
    { argv: ["/usr/bin/env"], env: { "A=B": "1" } },
    "A=B=1\n",
  ),
  answered("env-nameless", "a variable without a name is no error", { env: { "": "1", PATH: "/bin" } }, "ok"),
  answered("env-nul", "a name with NUL is spawnFailed", { env: { "A\0B": "1" } }, "-32603 spawnFailed"),
  answered("program-empty", "an empty program is spawnFailed", { argv: [""] }, "-32603 spawnFailed"),
  printing(
    "cwd-localhost",
    "file://localhost/... is a local cwd",
    (ctx) => ({ ...PWD, cwd: ctx.uri().replace("file://", "file://localhost") }),
    "DIR\n",
  ),
  printing(
    "cwd-one-slash",
    "file:/... is a local cwd",
    (ctx) => ({ ...PWD, cwd: ctx.uri().replace("file://", "file:") }),
    "DIR\n",
  ),
  printing(
    "cwd-dots",
    "dot segments in a cwd are resolved",
    (ctx) => ({ ...PWD, cwd: `${folder(ctx, "a")}/./../a` }),
    "DIR/a\n",
  ),
  printing(
    "cwd-encoded",
    "percent-encoded blanks and letters in a cwd are decoded",
    (ctx) => ({ ...PWD, cwd: folder(ctx, "ä b%20c") }),
    "DIR/ä b%20c\n",
  ),
  answered(
    "program-missing",
    "a missing program is spawnNotFound",
    { argv: ["/no/such/program"] },
    "-32603 spawnNotFound",
  ),
  answered(
    "program-not-in-path",
    "a program that is not in PATH is spawnNotFound",
    { argv: ["no-such-program"], env: { PATH: "/bin" } },
    "-32603 spawnNotFound",
  ),
  answered("cwd-missing", "a missing cwd is spawnNotFound", { cwd: "file:///no/such/folder" }, "-32603 spawnNotFound"),
  answered(
    "interpreter-missing",
    "a missing interpreter is spawnNotFound",
    (ctx) => ({ argv: [file(ctx, "#!/no/such/shell\n", 0o755)] }),
    "-32603 spawnNotFound",
  ),
  answered(
    "not-executable",
    "a program that is not executable is spawnPermissionDenied",
    (ctx) => ({ argv: [file(ctx, "#!/bin/sh\n", 0o644)] }),
    "-32603 spawnPermissionDenied",
  ),
  answered(
    "program-folder",
    "a folder as program is spawnPermissionDenied",
    { argv: ["/usr"] },
    "-32603 spawnPermissionDenied",
  ),
  answered(
    "no-shebang",
    "a script without #! is spawnFailed",
    (ctx) => ({ argv: [file(ctx, "echo hi\n", 0o755)] }),
    "-32603 spawnFailed",
  ),
  answered(
    "cwd-file",
    "a file as cwd is spawnFailed",
    (ctx) => ({ cwd: ctx.uri("file"), argv: [file(ctx, "", 0o755)] }),
    "-32603 spawnFailed",
  ),
  answered("argv-nul", "a NUL in argv is spawnFailed", { argv: ["/bin/echo", "a\0b"] }, "-32603 spawnFailed"),
  answered("env-nul", "a NUL in env is spawnFailed", { env: { A: "a\0b" } }, "-32603 spawnFailed"),
  answered(
    "tty-program-missing",
    "a missing program is spawnNotFound for a tty too",
    { argv: ["/no/such/program"], tty: true },
    "-32603 spawnNotFound",
  ),
  {
    id: "start/failed-id-is-free",
    section: "3",
    what: "the id of a failed start is free at once, and there are no events of it",
    run: async (ctx) => {
      const peer = await ctx.session();
      const failed = outcome(
        await peer.call("process/start", ctx.spec({ processId: "p", argv: ["/no/such/program"] })),
      );
      const { stdout } = await ctx.run(peer, { processId: "p", sh: "echo hi" });
      return { failed, stdout, events: peer.eventsOf("p").length };
    },
    expect: { failed: "-32603 spawnNotFound", stdout: "hi\n", events: 3 },
  },
  {
    id: "start/duplicate",
    section: "3",
    what: "an id in use is refused by name, while the process runs and after it closed",
    run: async (ctx) => {
      const peer = await ctx.session();
      await ctx.start(peer, { processId: "e6", sh: "exec cat", env: { PATH: "/bin" }, pipeStdin: true });
      const running = refusal(await peer.call("process/start", ctx.spec({ processId: "e6" })));
      await peer.ask("process/terminate", { processId: "e6" });
      await peer.waitForPush("process/closed", "e6");
      return { running, closed: refusal(await peer.call("process/start", ctx.spec({ processId: "e6" }))) };
    },
    expect: {
      running: { code: -32600, message: "process e6 already exists" },
      closed: { code: -32600, message: "process e6 already exists" },
    },
  },
  {
    id: "start/many",
    section: "3",
    what: "100 concurrent processes all run to their end",
    run: async (ctx) => {
      const peer = await ctx.session();
      const numbers = Array.from({ length: 100 }, (_, number) => number);
      const ends = await Promise.all(numbers.map((n) => ctx.run(peer, { sh: `echo ${n}; exit ${n}` })));
      return ends.every(({ exitCode, stdout }, n) => exitCode === n && stdout === `${n}\n`);
    },
    expect: true,
  },
  {
    id: "start/nothing-before-the-reply",
    section: "0",
    what: "no event arrives before the reply to its start, and events arrive in the order of their seqs",
    only: "ours",
    run: async (ctx) => {
      const peer = await ctx.session();
      const ids = await Promise.all(Array.from({ length: 250 }, () => ctx.start(peer, { sh: "echo a; echo b >&2" })));
      await Promise.all(ids.map((id) => peer.ended(id)));
      const wrong = ids.filter((id) => {
        const about = peer.messages.filter((it) => it.params?.processId === id || it.result?.processId === id);
        return about.map(({ params }) => params?.seq ?? 0).some((seq, index) => seq !== index);
      });
      return wrong.length;
    },
    expect: 0,
  },
];
