// The surroundings of a child: variables, name, directory, descriptors, signal dispositions. Only what the spec asks for.

import { randomUUID } from "node:crypto";
import { closeSync, openSync, writeFileSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import type { ProcessSpec } from "../../protocol/index.ts";
import { outcome } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { makeScratch } from "../support/scratch.ts";
import { describeBackends } from "./backends.ts";

const scratch = makeScratch();
const PATH = { PATH: "/usr/bin:/bin" };

/** Variables of the host before the backend starts, for policies to inherit. */
const hostVariables = {
  EXECWIRE_SPEC_PLAIN: "plain",
  EXECWIRE_SPEC_API_KEY: "key",
  execwire_spec_secret: "secret",
  EXECWIRE_SPEC_TOKENS: "tokens",
  EXECWIRE_TOKEN: "the supervisor's own",
};

beforeAll(() => {
  Object.assign(process.env, hostVariables);
});

afterAll(() => {
  for (const name of Object.keys(hostVariables)) delete process.env[name];
});

describeBackends("environment", ({ supports, needs, start }) => {
  /** The variables of a child, as env(1) prints them. */
  const environmentOf = async (spec: Omit<ProcessSpec, "argv">) => {
    const { stdout, pty } = await outcome(await start({ argv: ["env", "-0"], ...spec }));
    const entries = (stdout + pty).replaceAll("\r\n", "\n").split("\0").slice(0, -1);
    return Object.fromEntries(entries.map((entry) => [entry.split("=")[0], entry.slice(entry.indexOf("=") + 1)]));
  };
  /** The names of its variables that come from this spec file. */
  const inheritedBy = async (spec: Omit<ProcessSpec, "argv">) =>
    Object.keys(await environmentOf(spec)).filter((name) => /^execwire/i.test(name));

  // JSON.parse creates these properties; an object literal would not.
  const odd =
    '{"__proto__":"one","constructor":"two","toJSON":"three","hasOwnProperty":"four","then":"five","valueOf":""}';

  it("can have variables named like properties of Object.prototype, which stays unchanged", async () => {
    const names = Object.keys(Object.prototype);
    expect(await environmentOf({ env: JSON.parse(odd) })).toEqual(JSON.parse(odd));
    const envPolicy = { inherit: "none", set: JSON.parse(odd) } as const;
    expect(await environmentOf({ env: PATH, envPolicy })).toEqual({ ...JSON.parse(odd), ...PATH });
    expect([Object.keys(Object.prototype), "one" in {}, ({} as { constructor: unknown }).constructor]).toEqual([
      names,
      false,
      Object,
    ]);
  });

  needs("plainTty").each([true])("can have such variables on a terminal too (tty %s)", async (tty) => {
    expect(await environmentOf({ tty, env: JSON.parse(odd) })).toEqual(JSON.parse(odd));
  });

  it("is independent of labels, which can have such names too", async () => {
    const process = await start({ argv: ["true"], labels: JSON.parse(odd) });
    expect(Object.entries(process.info.labels).sort()).toEqual(Object.entries(JSON.parse(odd)).sort());
    await outcome(process);
  });

  describe.each([
    ["pipes", {}, []],
    ["one pipe", { merge: true }, ["merge"]],
    ["a tty", { tty: true }, ["plainTty"]],
    ["a tty without echo", { tty: { echo: false } }, ["plainTty", "setsTerminal"]],
  ] as const)("on %s", (_what, spec, abilities) => {
    needs(...abilities)("has no variables unless the spec gives some", async () => {
      expect(await environmentOf(spec)).toEqual({});
    });

    needs(...abilities)("has exactly the variables that the spec gives", async () => {
      const values = { EMPTY: "", SPACES: " a  b ", LINES_: "a\nb", EQUALS: "a=b=", UNICODE: "é€😀", lower: "x" };
      const env = { ...PATH, ...values };
      expect(await environmentOf({ ...spec, env })).toEqual(env);
    });
  });

  needs("ownHost")("inherits all variables except those with secret-looking names", async () => {
    expect(await inheritedBy({ envPolicy: { inherit: "all" } })).toEqual(["EXECWIRE_SPEC_PLAIN"]);
    expect((await inheritedBy({ envPolicy: { inherit: "all", ignoreDefaultExcludes: true } })).sort()).toEqual([
      "EXECWIRE_SPEC_API_KEY",
      "EXECWIRE_SPEC_PLAIN",
      "EXECWIRE_SPEC_TOKENS",
      "execwire_spec_secret",
    ]);
  });

  it("inherits only the core variables, with the values of the host", async () => {
    const all = await environmentOf({ envPolicy: { inherit: "all", ignoreDefaultExcludes: true } });
    const names = ["PATH", "SHELL", "TMPDIR", "TEMP", "TMP", "HOME", "LANG", "LC_ALL", "LC_CTYPE", "LOGNAME", "USER"];
    const core = Object.fromEntries(Object.entries(all).filter(([name]) => names.includes(name)));
    expect(core).toHaveProperty("PATH");
    expect(await environmentOf({ envPolicy: { inherit: "core" } })).toEqual(core);
  });

  it("applies the steps of the policy in order, and the variables of the spec last", async () => {
    const envPolicy = {
      inherit: "all",
      exclude: ["execwire_spec_pl*"],
      set: { MY_TOKEN: "set", OTHER: "set", BOTH: "set" },
      includeOnly: ["*_TOKEN", "execwire*", "B?TH"],
    } as const;
    const env = { OVERLAY: "env", BOTH: "env" };
    expect(await environmentOf({ envPolicy, env })).toEqual({ MY_TOKEN: "set", OVERLAY: "env", BOTH: "env" });
  });

  it("adds the variables of policy and spec to an empty environment", async () => {
    expect(await environmentOf({ envPolicy: { inherit: "none", set: { A: "1" } }, env: { B: "2" } })).toEqual({
      A: "1",
      B: "2",
    });
  });

  needs("ownHost")(
    "never passes the credentials of a supervisor to a child, not even when the spec sets them",
    async () => {
      const env = { EXECWIRE_TOKEN: "x", execwire_token: "x", A: "1" };
      expect(await environmentOf({ env })).toEqual({ A: "1" });
    },
  );

  it("is exact also in variables that some servers have their own use for", async () => {
    const env = { CODEX_THREAD_ID: randomUUID(), CODEX_TOOL_CALL_ID: "call" };
    expect(await environmentOf({ env })).toEqual(env);
  });

  it("finds the program in the PATH of the child", async () => {
    writeFileSync(scratch("hello"), "#!/bin/sh\necho found\n", { mode: 0o755 });
    const env = { PATH: `/nowhere:${scratch(".")}` };
    expect((await outcome(await start({ argv: ["hello"], env }))).stdout).toBe("found\n");
  });

  it("names the program by argv[0], or by arg0", async () => {
    const argv = ["sh", "-c", "tr '\\0' '\\n' < /proc/$$/cmdline | head -n 1"];
    expect((await outcome(await start({ argv, env: PATH }))).stdout).toBe("sh\n");
    expect((await outcome(await start({ argv, env: PATH, arg0: "custom" }))).stdout).toBe("custom\n");
    if (!supports.arg0OnTty) return;
    expect((await outcome(await start({ argv, env: PATH, arg0: "custom", tty: true }))).pty).toBe("custom\r\n");
  });

  it("starts in the given directory, by default in that of the host", async () => {
    expect((await outcome(await start({ argv: ["pwd"], cwd: "/usr" }))).stdout).toBe("/usr\n");
    const process = await start({ argv: ["pwd"] });
    expect((await outcome(process)).stdout).toBe(`${process.info.cwd}\n`);
  });

  if (supports.hidesDescriptors) {
    it.each([
      ["pipes", {}],
      ["pipes with stdin", { pipeStdin: true }],
      ...(supports.merge ? [["one pipe", { merge: true }]] : []),
      ["a tty", { tty: true, env: PATH }],
    ] as [string, Omit<ProcessSpec, "argv">][])(
      "has no descriptors except the three of stdio, on %s",
      async (_what, spec) => {
        const { stdout, pty } = await outcome(await start({ argv: ["ls", "/proc/self/fd"], ...spec }));
        // The fourth is the directory that ls reads.
        expect((stdout + pty).trim().split(/\s+/)).toEqual(["0", "1", "2", "3"]);
      },
    );
  }

  it.each([false, true])("starts with no signal ignored or blocked (tty %s)", async (tty) => {
    const argv = ["grep", "-E", "^Sig(Blk|Ign)", "/proc/self/status"];
    const { stdout, pty } = await outcome(await start({ argv, tty, env: PATH }));
    const zeros = "0000000000000000";
    expect((stdout + pty).trim().split(/\s+/)).toEqual(["SigBlk:", zeros, "SigIgn:", zeros]);
  });

  it("lets a program end by a broken pipe", async () => {
    expect(await outcome(await start({ argv: sh("yes | head -n 1") }))).toMatchObject({ stdout: "y\n", exitCode: 0 });
  });

  if (supports.realPipes) {
    it("lets a program open its output by name", async () => {
      const process = await start({ argv: sh("echo out > /dev/stdout; echo err > /dev/stderr") });
      expect(await outcome(process)).toMatchObject({ stdout: "out\n", stderr: "err\n", exitCode: 0 });
    });
  }

  if (supports.inheritFds) {
    it("passes the descriptors of inheritFds with their numbers, and no others", async () => {
      writeFileSync(scratch("inherited"), "through a descriptor\n");
      const [passed, kept] = [openSync(scratch("inherited"), "r"), openSync(scratch("inherited"), "r")];
      const process = await start({
        argv: ["readlink", `/proc/self/fd/${passed}`, `/proc/self/fd/${kept}`],
        inheritFds: [passed],
      });
      const content = await start({ argv: ["cat", `/proc/self/fd/${passed}`], inheritFds: [passed] });
      const results = [await outcome(process), await outcome(content)];
      closeSync(passed);
      closeSync(kept);
      expect(results.map(({ stdout }) => stdout)).toEqual([`${scratch("inherited")}\n`, "through a descriptor\n"]);
    });
  }
});
