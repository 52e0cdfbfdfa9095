// A snapshot of the user's shell: its start-up files run once, and every later command finds what they have set up.
import { appendFileSync, chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { setTimeout as pause } from "node:timers/promises";
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { connectOver } from "../../lib/client/connect.ts";
import { run } from "../../lib/exec/run/run.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { Backend } from "../../lib/process/backend.ts";
import { serve } from "../../lib/server/server.ts";
import { memoryPair } from "../../lib/transport/memory-pair.ts";
import type { ProcessSpec } from "../../protocol/index.ts";
import { lacking, sandboxMissing } from "../../scripts/prerequisites.mjs";
import { refusal } from "../support/refusal.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { findProcesses } from "../support/trees.ts";

/** How each shell is called, and the file in which its user sets it up. */
const SHELLS = [
  { title: "bash", file: "/bin/bash", startup: ".bashrc", env: {} },
  { title: "bash with BASH_ENV", file: "/bin/bash", startup: ".bash-env", env: { BASH_ENV: "@/.bash-env" } },
  {
    title: "bash as sh",
    file: "/bin/bash",
    arg0: "sh",
    startup: ".own",
    env: { ENV: "$XDG_CONFIG_HOME$HOME/.own" },
  },
  { title: "sh", file: "/bin/sh", startup: ".own", env: { ENV: "$XDG_CONFIG_HOME$HOME/.own" } },
  { title: "zsh", file: "/bin/zsh", startup: ".zshrc", env: {} },
  { title: "zsh with .zshenv", file: "/bin/zsh", startup: ".zshenv", env: {} },
].filter(({ file }) => lacking(file).length === 0);

/** A start-up file that makes a capture hard, and counts its runs. */
const STARTUP = `printf x >> "$HOME/captures"
export PATH="$HOME/profile-bin:/usr/bin:/bin"
export ALLOWED=profile
export PROFILE_SECRET=secret
export DENIED=denied
counted=$(wc -c <"$HOME/captures")
helper() { printf helper; }
if [ -n "\${BASH_VERSION-}" ]; then
  shopt -s extglob nocasematch
  eval 'helper() { case $1 in @(foo|bar)*) printf helper ;; *) return 1 ;; esac; }'
fi
alias ll='ls -l'
set -u
`;
const HIDDEN_BUILTINS = "unset() { exit 41; }\nbuiltin() { :; }\n";

const at = makeScratch();
let home: string;
let backend: Backend;
beforeEach(() => {
  home = at(uniqueName("home"));
  mkdirSync(join(home, "profile-bin"), { recursive: true });
  const tool = join(home, "profile-bin/wc");
  writeFileSync(tool, '#!/bin/sh\nprintf x >> "$HOME/tools"\nexec /usr/bin/wc "$@"\n');
  chmodSync(tool, 0o755);
  backend = createSupervisor({ spawner: "posix" });
});
afterEach(() => backend.close({ graceMs: 0 }));

const filesRun = (name = "captures") => (existsSync(join(home, name)) ? readFileSync(join(home, name), "utf8") : "");

/** The spec of a script for a login shell, with a filter and many variables. */
function login(shell: Partial<(typeof SHELLS)[number]>, script: string, more: Partial<ProcessSpec> = {}): ProcessSpec {
  const { file = "/bin/bash", arg0, env = {} } = shell;
  const many = Object.fromEntries(Array.from({ length: 1000 }, (_, index) => [`ENTRY_${index}`, `value-${index}`]));
  const large = Object.fromEntries([0, 1, 2].map((index) => [`LARGE_${index}`, "x".repeat(60 * 1024)]));
  const own = Object.fromEntries(Object.entries(env).map(([name, value]) => [name, value.replace("@", home)]));
  return {
    argv: [file, "-lc", script],
    cwd: home,
    ...(arg0 && { arg0 }),
    envPolicy: {
      inherit: "none",
      exclude: ["DENIED"],
      set: { PATH: "/usr/bin:/bin", HOME: home, ...own, ...many, ...large },
    },
    shellSnapshot: { scope: "scope" },
    ...more,
  };
}

describe.each(SHELLS)("a snapshot of $title", (shell) => {
  const isPlain = shell.title === "sh";
  const script = `case $- in *u*) ;; *) exit 42 ;; esac
    [ "\${ENTRY_999-missing}" = value-999 ] || exit 43
    export PATH=/runtime:"$PATH"; ${isPlain ? "" : "helper FOObar;"}
    printf '|%s|%s|%s|%s|' "$ALLOWED" "\${PROFILE_SECRET-missing}" "\${DENIED-missing}" "$PATH"
    alias | /usr/bin/grep -c ll=; ls -l /proc/$$/fd | /usr/bin/grep -c memfd; exit 0`;
  const expected = () =>
    `${isPlain ? "" : "helper"}|profile|missing|missing|/runtime:${home}/profile-bin:/usr/bin:/bin|1\n0\n`;
  const write = () => {
    const hidden = shell.title === "sh" || shell.arg0 === "sh" ? "" : HIDDEN_BUILTINS;
    writeFileSync(
      join(home, shell.startup),
      `${STARTUP}${hidden}padding() { printf '%s' '${"🦀".repeat(20_000)}'; }\n`,
    );
  };

  it("runs the start-up files once for two commands, on pipes and on a terminal", async () => {
    write();
    for (const tty of [false, true]) {
      const { stdout, stderr, exitCode } = await run(backend, login(shell, script, { tty }));
      expect([stdout.text.replaceAll("\r", ""), stderr.text, exitCode]).toEqual([expected(), "", 0]);
    }
    expect([filesRun(), filesRun("tools")]).toEqual(["x", "x"]);
  });

  it("leaves the arguments, the name and the exit code of the command", async () => {
    write();
    const spec = login(shell, 'printf "%s|" "$0" "$@"; exit 7');
    const { stdout, exitCode } = await run(backend, { ...spec, argv: [...spec.argv, "zero", "a b", "", "-x"] });
    expect([stdout.text, exitCode]).toEqual(["zero|a b||-x|", 7]);
  });

  it("keeps functions that hide the builtins of a replay", async () => {
    if (isPlain || shell.arg0 === "sh") return;
    write();
    const { exitCode } = await run(backend, login(shell, "set +u; unset anything"));
    expect(exitCode).toBe(41);
  });
});

describe("a snapshot", () => {
  it("over a connection is the same", async () => {
    writeFileSync(join(home, ".bashrc"), STARTUP);
    const server = await serve(backend, { auth: { kind: "none" } });
    const client = await connectOver(async () => {
      const [near, far] = memoryPair();
      server.accept(far);
      return near;
    });
    const results = [await run(client, login({}, "helper foo")), await run(client, login({}, "helper foo"))];
    await client.close();
    await server.close();
    expect(results.map(({ stdout }) => stdout.text)).toEqual(["helper", "helper"]);
    expect(filesRun()).toBe("x");
  });

  it("belongs to its scope, and is made once for starts at the same time", async () => {
    writeFileSync(join(home, ".bashrc"), STARTUP);
    const scopes = ["one", "one", "two", "one", "two"];
    await Promise.all(scopes.map((scope) => run(backend, login({}, "helper foo", { shellSnapshot: { scope } }))));
    expect(filesRun()).toBe("xx");
  });

  it("is filtered by the policy of each command", async () => {
    writeFileSync(join(home, ".bashrc"), STARTUP);
    const print = `echo "\${ALLOWED-missing} \${DENIED-missing}"`;
    const { envPolicy, ...spec } = login({}, print);
    expect((await run(backend, { ...spec, ...(envPolicy && { envPolicy }) })).stdout.text).toBe("profile missing\n");
    const open = { ...spec, envPolicy: { inherit: "none", set: { HOME: home } } } as const;
    expect((await run(backend, open)).stdout.text).toBe("profile denied\n");
    expect(filesRun()).toBe("x");
  });

  it.each([1, 3])(
    "that fails leaves the plain shell; it is tried again, at most three times (failures: %i)",
    async (failures) => {
      const file = join(home, ".bashrc");
      writeFileSync(file, 'printf x >> "$HOME/captures"\nexit 7\n');
      const script = "if command -v helper >/dev/null; then helper; else printf original; fi";
      for (let attempt = 0; attempt < failures; attempt += 1) {
        // The second start comes before another attempt is due.
        for (const _ of [1, 2]) expect((await run(backend, login({}, script))).stdout.text).toBe("original");
        // The real clock of a real shell: there is no event for the end of the pause.
        await pause(1_050);
      }
      writeFileSync(file, 'printf x >> "$HOME/captures"\nhelper() { printf recovered; }\n');
      const last = failures === 3 ? "original" : "recovered";
      for (const _ of [1, 2]) expect((await run(backend, login({}, script))).stdout.text).toBe(last);
      expect(filesRun()).toBe("x".repeat(failures === 3 ? 3 : 2));
    },
  );

  it("leaves an agent running that the start-up files have started, until the supervisor closes", async () => {
    const seconds = `300.${process.pid}`;
    writeFileSync(join(home, ".bashrc"), `sleep ${seconds} & export AGENT=$!\n`);
    const script = 'kill -0 "$AGENT" && echo alive';
    expect((await run(backend, login({}, script))).stdout.text).toBe("alive\n");
    expect((await run(backend, login({}, script))).stdout.text).toBe("alive\n");
    await backend.close({ graceMs: 0 });
    expect(findProcesses(`sleep\0${seconds}`)).toEqual([]);
  });

  it("leaves no capture running when the supervisor closes", async () => {
    const seconds = `301.${process.pid}`;
    writeFileSync(join(home, ".bashrc"), `echo >"$HOME/began"; sleep ${seconds}\n`);
    const started = refusal(run(backend, login({}, "true")));
    while (!existsSync(join(home, "began"))) await pause(10);
    await backend.close({ graceMs: 0 });
    expect(await started).toMatchObject({ code: "START_CANCELLED" });
    expect(findProcesses(`sleep\0${seconds}`)).toEqual([]);
  });

  it.each([[["/bin/bash", "-c", "true"]], [["/bin/bash", "-lc"]], [["/usr/bin/env", "-lc", "true"]]])(
    "is refused for an argv that is no script of a login shell: %j",
    async (argv) => {
      const refused = { code: "INVALID_PARAMS", data: { field: "shellSnapshot" } };
      expect(await refusal(run(backend, { ...login({}, "true"), argv }))).toMatchObject(refused);
    },
  );

  (sandboxMissing() === undefined ? it : it.skip)("has nothing that its own command may not read", async () => {
    writeFileSync(join(home, "hidden"), "hidden");
    writeFileSync(join(home, ".bashrc"), 'SEEN=$(cat "$HOME/hidden" 2>/dev/null); export SEEN\n');
    const files = [
      { path: { named: "root" }, access: "read" },
      { path: join(home, "hidden"), access: "none" },
    ] as const;
    const print = 'echo "[$SEEN]"';
    const outputOf = async (more: Partial<ProcessSpec>) => (await run(backend, login({}, print, more))).stdout.text;
    expect([await outputOf({}), await outputOf({ sandbox: { files } }), await outputOf({})]).toEqual([
      "[hidden]\n",
      "[]\n",
      "[hidden]\n",
    ]);
  });

  (sandboxMissing() === undefined ? it : it.skip)(
    "is made within the sandbox of the command, and serves others",
    async () => {
      writeFileSync(join(home, ".bashrc"), STARTUP);
      const readOnly = { files: [{ path: { named: "root" }, access: "read" }] } as const;
      const sandboxed = await run(backend, login({}, "helper foo; touch x", { sandbox: readOnly }));
      expect([sandboxed.stdout.text, sandboxed.exitCode]).toEqual(["helper", 1]);
      // The start-up files could not count their run either.
      expect(filesRun()).toBe("");
      appendFileSync(join(home, ".bashrc"), "helper() { printf changed; }\n");
      expect((await run(backend, login({}, "helper foo"))).stdout.text).toBe("helper");
    },
  );
});
