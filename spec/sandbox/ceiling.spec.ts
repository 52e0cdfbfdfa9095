// A supervisor whose every command runs in a sandbox: commands may narrow it, and none may widen it.
import { existsSync, mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, expect, it } from "@jest/globals";
import { run } from "../../lib/exec/run/run.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { FileRule, SandboxPolicy } from "../../protocol/index.ts";
import { outcome } from "../support/outcome.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch } from "../support/scratch.ts";
import { describeSandbox, READ_ONLY } from "./sandbox-host.ts";

describeSandbox("a supervisor with a sandbox", () => {
  const scratch = makeScratch();
  const workspace = scratch("workspace");
  const secret = scratch("secret");
  mkdirSync(workspace);
  mkdirSync(secret);
  writeFileSync(join(secret, "file"), "secret");
  symlinkSync(secret, scratch("alias"));
  symlinkSync(workspace, scratch("workspace-alias"));
  const files: readonly FileRule[] = [
    ...READ_ONLY.files,
    { path: scratch("workspace-alias"), access: "write" },
    { path: scratch("alias"), access: "none" },
  ];
  const supervisor = createSupervisor({ sandbox: { files, limits: { openFiles: 64 } } });
  afterAll(() => supervisor.close({ graceMs: 0 }));
  const sh = (script: string, sandbox?: SandboxPolicy) =>
    run(supervisor, {
      argv: ["/bin/sh", "-c", script],
      cwd: workspace,
      env: { PATH: "/usr/bin:/bin" },
      ...(sandbox && { sandbox }),
    });

  it("runs a command that asks for none in it", async () => {
    const result = await sh(`echo a > new; cat ${secret}/file; touch ${scratch("outside")}; ulimit -n`);
    expect(result.stdout.text).toBe("64\n");
    expect(result.stderr.text).toMatch(/Permission denied[\s\S]*Read-only file system/);
    expect(existsSync(join(workspace, "new"))).toBe(true);
    const [process] = await supervisor.list();
    expect(process).toMatchObject({ sandbox: "linuxSeccomp" });
  });

  it("runs a command with a stricter one, within its own bounds", async () => {
    const stricter = { files: [...READ_ONLY.files, { path: secret, access: "none" }] } as const;
    const result = await sh("touch never; ulimit -n", stricter);
    expect(result).toMatchObject({ stdout: { text: "64\n" } });
    expect(existsSync(join(workspace, "never"))).toBe(false);
  });

  it.each<[string, SandboxPolicy]>([
    ["everything writable", { files: [{ path: { named: "root" }, access: "write" }] }],
    ["what is denied", READ_ONLY],
    ["a network", { files: [], network: "full" }],
    ["unix sockets", { files: [], unixSockets: true }],
  ])("refuses one with %s, and runs nothing", async (_, sandbox) => {
    expect(await refusal(sh("touch ran", sandbox))).toMatchObject({ code: "FORBIDDEN", data: { field: "sandbox" } });
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  });

  it("refuses one that names a link, since it could lead to what is denied", async () => {
    symlinkSync(secret, join(workspace, "link"));
    const path = join(workspace, "link");
    const linked = {
      files: [{ path: { named: "platform" }, access: "read" } as const, { path, access: "read" } as const],
    };
    await expect(sh("cat link/file", linked)).rejects.toThrow(`leads to ${secret}`);
  });

  it("opens no proxy for a start, which would be outside of it", async () => {
    const networkProxy = { mode: "managed", allow: ["*"], deny: [] } as const;
    const start = supervisor.start({ argv: ["/bin/true"], networkProxy });
    expect(await refusal(start)).toMatchObject({ code: "INVALID_PARAMS", data: { field: "networkProxy" } });
  });

  it("with a managed network lets no start decide about it", async () => {
    const network = { mode: "managed", allow: [], deny: [] } as const;
    const managed = createSupervisor({ sandbox: { ...READ_ONLY, network } });
    let asked = 0;
    const decisions: string[] = [];
    try {
      const process = await managed.start(
        { argv: ["/bin/sh", "-c", "curl -s http://a.test/"], env: { PATH: "/usr/bin:/bin" } },
        {
          onNetworkRequest: () => {
            asked += 1;
            return "allow";
          },
          onNetworkDecision: ({ decision, reason }) => decisions.push(`${decision} ${reason}`),
        },
      );
      await outcome(process);
    } finally {
      await managed.close({ graceMs: 0 });
    }
    expect([asked, decisions]).toEqual([0, [expect.stringMatching(/^deny/)]]);
  });

  it("is not made with a policy that makes no sense", () => {
    expect(() => createSupervisor({ sandbox: { files: [{ path: "relative", access: "read" }] } })).toThrow("sandbox");
  });
});
