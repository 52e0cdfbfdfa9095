// What a command in a sandbox may touch: each row runs a real command and looks at the files afterwards.

import { existsSync, mkdirSync, readdirSync, readFileSync, symlinkSync } from "node:fs";
import { type AddressInfo, createServer } from "node:net";
import { join } from "node:path";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import type { SandboxPolicy } from "../../protocol/index.ts";
import { refusal } from "../support/refusal.ts";
import { describeSandbox, makeHost, READ_ONLY } from "./sandbox-host.ts";

describeSandbox("a read-only sandbox", () => {
  const { sh, workspace } = makeHost();

  it("reads files and writes none, and the failure is known to be a denial", async () => {
    const result = await sh("cat file; touch new", READ_ONLY);
    expect(result.stdout.text).toBe("inside");
    expect(result.stderr.text).toContain("Read-only file system");
    expect(result).toMatchObject({ exitCode: 1, sandboxDenied: true });
    expect(existsSync(join(workspace, "new"))).toBe(false);
  });

  it("cannot be left: no remount, no new user namespace, no capability, no other process", async () => {
    const script = `mount -o remount,rw,bind / 2>&1; unshare -Ur true 2>&1; kill -9 ${process.pid} 2>&1
      grep -E '^(CapEff|CapBnd|NoNewPrivs|Seccomp):' /proc/self/status; ls /proc | grep -c '^[0-9]'`;
    const { stdout } = await sh(script, READ_ONLY);
    expect(stdout.text).toMatch(/permission denied[\s\S]*No space left[\s\S]*No such process/);
    expect(stdout.text).toMatch(/CapEff:\t0+\nCapBnd:\t0+\nNoNewPrivs:\t1\nSeccomp:\t2\n[1-9]\n$/);
  });

  it("gives a command that succeeds, or that fails by itself, as it is", async () => {
    expect(await sh("exit 0", READ_ONLY)).toMatchObject({ exitCode: 0, sandboxDenied: false });
    expect(await sh("exit 3", READ_ONLY)).toMatchObject({ exitCode: 3, sandboxDenied: false });
  });
});

describeSandbox("a writable workspace", () => {
  const { sh, workspace, outside, workspaceWrite } = makeHost();

  it("is writable, and nothing else is", async () => {
    const result = await sh(`echo a > new && cat new; echo b > ${outside}/new`, workspaceWrite);
    expect(result.stdout.text).toBe("a\n");
    expect(result.exitCode).not.toBe(0);
    expect(readFileSync(join(workspace, "new"), "utf8")).toBe("a\n");
    expect(readdirSync(outside)).toEqual(["secret"]);
  });

  it("keeps a protected directory: it is not written, removed or moved", async () => {
    await sh("echo x >> .git/config; rm -rf .git; mv .git .g", workspaceWrite);
    expect(readFileSync(join(workspace, ".git/config"), "utf8")).toBe("config");
    expect(existsSync(join(workspace, ".g"))).toBe(false);
  });

  it("keeps a protected directory missing, and leaves nothing in its place", async () => {
    const missing = join(workspace, ".hooks");
    const files = [...workspaceWrite.files, { path: missing, access: "read", ifMissing: "protect" } as const];
    expect(await sh("mkdir -p .hooks/a", { files })).toMatchObject({ exitCode: 1 });
    expect(existsSync(missing)).toBe(false);
  });

  it("denies what a rule denies below it", async () => {
    const files = [
      ...workspaceWrite.files,
      { path: outside, access: "none" },
      { path: join(workspace, "file"), access: "none" },
    ] as const;
    const result = await sh(`cat file; cat ${outside}/secret; ls ${outside}; echo x > file`, { files });
    expect(result.stdout.text).toBe("");
    expect(result.stderr.text.match(/Permission denied/g)).toHaveLength(4);
    expect(readFileSync(join(workspace, "file"), "utf8")).toBe("inside");
  });

  it("refuses what cannot be protected or does not exist, and runs nothing", async () => {
    symlinkSync(outside, join(workspace, "link"));
    mkdirSync(join(workspace, "sub"));
    const refusalOf = (path: string, access: "read" | "write") =>
      refusal(sh("touch ran", { files: [...workspaceWrite.files, { path: join(workspace, path), access }] }));
    for (const [path, access] of [
      ["link", "read"],
      ["link", "write"],
      ["none", "write"],
    ] as const) {
      expect(await refusalOf(path, access)).toMatchObject({ code: "INVALID_PARAMS", data: { field: "sandbox.files" } });
    }
    expect(existsSync(join(workspace, "ran"))).toBe(false);
  });
});

describeSandbox("restricted reads", () => {
  const { sh, workspace, outside } = makeHost();
  const platform = { path: { named: "platform" }, access: "read" } as const;

  it("show the system's programs and what a rule names", async () => {
    const files = [platform, { path: workspace, access: "read" } as const];
    const result = await sh(`cat file; cat ${outside}/secret; ls /root /home; cat /etc/shadow; touch /x /tmp/x`, {
      files,
    });
    expect(result.stdout.text).toBe("inside");
    expect(result.stderr.text.match(/No such file/g)).toHaveLength(4);
    expect(result.stderr.text.match(/Read-only/g)).toHaveLength(2);
  });

  it("is entered in a directory that it does not show: the directory is empty", async () => {
    const { stdout, exitCode } = await sh("pwd; ls -A; cat file 2>/dev/null", { files: [platform] });
    expect([stdout.text, exitCode]).toEqual([`${workspace}\n`, 1]);
  });

  it("without a rule for the workspace do not show it", async () => {
    const result = await sh(`cat ${workspace}/file`, { files: [platform] }, { cwd: "/" });
    expect(result.stdout.text).toBe("");
    expect(result.exitCode).not.toBe(0);
  });

  it("with a /tmp of their own leave nothing in the host's", async () => {
    const files = [platform, { path: { named: "tmp" }, access: "write" } as const];
    expect(await sh("echo a > /tmp/execwire-own && cat /tmp/execwire-own", { files }, { cwd: "/" })).toMatchObject({
      exitCode: 0,
    });
    expect(existsSync("/tmp/execwire-own")).toBe(false);
  });
});

describeSandbox("the network of a sandbox", () => {
  const { sh, workspace } = makeHost();
  const listen = () => createServer((socket) => socket.on("error", () => undefined).end());
  const [web, local] = [listen(), listen()];
  const path = join(workspace, "socket");
  beforeAll(async () => {
    await new Promise<void>((resolve) => web.listen(0, "127.0.0.1", resolve));
    await new Promise<void>((resolve) => local.listen(path, resolve));
  });
  afterAll(() => {
    web.close();
    local.close();
  });
  /** Connects with Node, which every machine that runs the specs has. */
  const connect = (target: string, policy: Partial<SandboxPolicy>) => {
    const script = `require("net").connect(${target}).on("connect", () => process.exit(7)).on("error", (e) => { console.log(e.code); process.exit(1); })`;
    return sh("", { ...READ_ONLY, ...policy }, { argv: [process.execPath, "-e", script] });
  };
  const port = () => String((web.address() as AddressInfo).port);

  it("is empty by default, without the host's loopback", async () => {
    expect(await connect(port(), {})).toMatchObject({ exitCode: 1, stdout: { text: "ECONNREFUSED\n" } });
    expect(await connect(port(), { network: "none" })).toMatchObject({ exitCode: 1 });
  });

  it("is the host's if the policy says so", async () => {
    expect(await connect(port(), { network: "full" })).toMatchObject({ exitCode: 7 });
  });

  it.each(["full", "none"] as const)(
    "does not include unix sockets, unless the policy says so (%s)",
    async (network) => {
      const target = JSON.stringify(path);
      expect(await connect(target, { network })).toMatchObject({ exitCode: 1, stdout: { text: "EPERM\n" } });
      expect(await connect(target, { network, unixSockets: true })).toMatchObject({ exitCode: 7 });
    },
  );

  it("differs between processes that run at the same time", async () => {
    const networks = ["full", "none", "full", "none"] as const;
    const results = await Promise.all(networks.map((network) => connect(port(), { network })));
    expect(results.map(({ exitCode }) => exitCode)).toEqual([7, 1, 7, 1]);
  });
});
