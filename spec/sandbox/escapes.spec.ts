// Ways out of a sandbox, and of its end: system calls, namespaces, a killed host, a machine that cannot enforce a policy, and the
// same commands as an unprivileged user.
import { chmodSync, existsSync, mkdirSync, readFileSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterEach, describe, expect, it } from "@jest/globals";
import { lacking, unprivileged } from "../../scripts/prerequisites.mjs";
import { makeScratch } from "../support/scratch.ts";
import { cliArgv, dist, runProgram } from "../support/system-run.ts";
import { allGone, endDetached, findProcesses } from "../support/trees.ts";
import { describeSandbox, makeHost, READ_ONLY } from "./sandbox-host.ts";

/** Numbers of system calls, by architecture of Node. */
const CALLS: Readonly<Record<string, Readonly<Record<string, number>>>> = {
  x64: {
    ...{ ptrace: 101, process_vm_readv: 310, process_vm_writev: 311, pidfd_getfd: 438, io_uring_setup: 425 },
    ...{ add_key: 248, request_key: 249, keyctl: 250, bpf: 321, perf_event_open: 298, userfaultfd: 323 },
    ...{ open_by_handle_at: 304, kexec_load: 246, init_module: 175 },
  },
  arm64: {
    ...{ ptrace: 117, process_vm_readv: 270, process_vm_writev: 271, pidfd_getfd: 438, io_uring_setup: 425 },
    ...{ add_key: 217, request_key: 218, keyctl: 219, bpf: 280, perf_event_open: 241, userfaultfd: 282 },
    ...{ open_by_handle_at: 265, kexec_load: 104, init_module: 105 },
  },
};
const calls = lacking("python3").length === 0 ? CALLS[process.arch] : undefined;
const left: number[] = [];
afterEach(() => endDetached(...left.splice(0)));

describeSandbox("a command that tries to leave its sandbox", () => {
  const { sh, workspace } = makeHost();

  (calls ? it : it.skip)("is refused every system call that reaches beyond its own files and processes", async () => {
    const script = `import ctypes, json, sys
libc = ctypes.CDLL(None, use_errno=True)
for name, number in json.loads(sys.argv[1]).items():
    ctypes.set_errno(0)
    result = libc.syscall(number, 0, 0, 0, 0, 0, 0)
    print(name, result, ctypes.get_errno())`;
    writeFileSync(join(workspace, "calls.py"), script);
    const { stdout, stderr } = await sh(`exec python3 calls.py '${JSON.stringify(calls)}'`, READ_ONLY);
    expect(stderr.text).toBe("");
    expect(stdout.text.trim().split("\n")).toEqual(Object.keys(calls ?? {}).map((name) => `${name} -1 1`));
  });

  (calls ? it : it.skip)("cannot forge its exit status with a descriptor of the process above it", async () => {
    const script = `import ctypes, os
libc = ctypes.CDLL(None, use_errno=True)
handle = os.pidfd_open(1)
print([libc.syscall(${calls?.pidfd_getfd}, handle, fd, 0) for fd in range(12)].count(-1))`;
    writeFileSync(join(workspace, "forge.py"), script);
    expect((await sh("exec python3 forge.py", READ_ONLY)).stdout.text).toBe("12\n");
  });

  it("cannot read the memory, the descriptors or the environment of the process above it", async () => {
    const script = `cat /proc/1/environ /proc/1/mem 2>/dev/null | head -c 1 | wc -c
      for it in /proc/1/fd/*; do readlink $it; done | grep -vE '^(pipe|socket|anon_inode):|^/dev/null$'`;
    const { stdout } = await sh(script, READ_ONLY);
    expect(stdout.text).toBe("0\n");
  });

  it("cannot mount over what it may not write, nor make a device", async () => {
    const script =
      "mount -t tmpfs none /etc 2>/dev/null || mknod /dev/shm/sda b 8 0 2>/dev/null || chroot / true 2>/dev/null";
    expect((await sh(script, READ_ONLY)).exitCode).not.toBe(0);
  });
});

describeSandbox("a host of sandboxes that is killed with SIGKILL", () => {
  const { workspace } = makeHost();

  it("leaves no process of them, nor what they detached", async () => {
    const marks = [`300.1${process.pid}`, `300.2${process.pid}`];
    const script = `(setsid sleep ${marks[0]} </dev/null >/dev/null 2>&1 &); echo ready; exec sleep ${marks[1]}`;
    const argv = cliArgv("run", "--sandbox", "read-only", "--", "sh", "-c", script);
    await runProgram(argv, {
      cwd: workspace,
      onStart: (child) => child.stdout?.once("data", () => child.kill("SIGKILL")),
    });
    const pids = marks.flatMap((mark) => findProcesses(`sleep\0${mark}`));
    left.push(...pids);
    await allGone(...pids);
  });
});

describeSandbox("a machine that cannot enforce a policy", () => {
  const at = makeScratch();
  /** Runs a command in a sandbox after a change of this machine that only it sees. */
  const after = (change: string) => {
    const file = at("ran");
    const [node = "", ...rest] = cliArgv("run", "--sandbox", "workspace-write", "--", "touch", file);
    const script = `${change} && exec "$@"`;
    return runProgram(["unshare", "--user", "--map-root-user", "--mount", "sh", "-c", script, "sh", node, ...rest], {
      cwd: at("."),
    });
  };

  it.each([
    ["no user namespaces", "echo 0 >/proc/sys/user/max_user_namespaces", /namespace/],
    ["a bubblewrap that does not run", "mount --bind /dev/null /usr/bin/bwrap", /bubblewrap|bwrap/],
  ])("runs nothing, and says what to do: %s", async (_what, change, hint) => {
    const { code, stderr } = await after(change);
    expect({ code, stderr }).toEqual({ code: 125, stderr: expect.stringMatching(hint) });
    expect(existsSync(at("ran"))).toBe(false);
  });
});

const asUser = unprivileged(dist);
(asUser ? describe : describe.skip)("a sandbox of an unprivileged user", () => {
  describeSandbox("with bubblewrap", () => {
    const at = makeScratch();
    const folder = at("work");
    const run = async (...args: string[]) => {
      if (!existsSync(folder)) mkdirSync(folder);
      for (const path of [at("."), folder]) chmodSync(path, 0o777);
      const env = { PATH: "/usr/bin:/bin", XDG_RUNTIME_DIR: folder, HOME: folder };
      const argv = [...(asUser ?? []), ...cliArgv("run", ...args)];
      const { code, stdout, stderr } = await runProgram(argv, { cwd: folder, env });
      return { code, stdout, stderr };
    };

    it("reads and writes what its policy says", async () => {
      expect(await run("--sandbox", "read-only", "--", "touch", "x")).toMatchObject({ code: 1 });
      expect(existsSync(join(folder, "x"))).toBe(false);
      const script = "echo a >here && ! echo b >../there";
      expect(await run("--sandbox", "workspace-write", "--", "sh", "-c", script)).toMatchObject({ code: 0 });
      expect(readFileSync(join(folder, "here"), "utf8")).toBe("a\n");
      expect(existsSync(at("there"))).toBe(false);
      const hidden = await run(
        "--sandbox",
        "restricted",
        "--deny",
        "here",
        "--",
        "sh",
        "-c",
        "cat here; ls /home /root",
      );
      expect(hidden).toMatchObject({ stdout: "", stderr: expect.stringContaining("Permission denied") });
    });

    it("reaches the proxy of its managed network, and nothing else", async () => {
      const script =
        "curl -s -o /dev/null -w '%{http_code}' http://a.test/; curl -s --noproxy '*' -m 5 http://192.0.2.1/";
      const result = await run("--sandbox", "read-only", "--network", "managed", "--", "sh", "-c", script);
      expect(result).toMatchObject({ code: 7, stdout: "403", stderr: expect.stringContaining("refused a.test") });
    });

    it("takes signals, has a terminal, and passes on exit codes", async () => {
      expect(await run("--sandbox", "read-only", "--", "sh", "-c", "exit 7")).toMatchObject({ code: 7 });
      expect(await run("--sandbox", "read-only", "--", "sh", "-c", "kill -9 $$")).toMatchObject({ code: 137 });
      expect(await run("--sandbox", "read-only", "-t", "--", "sh", "-c", "[ -t 0 ] && echo terminal")).toMatchObject({
        stdout: "terminal\r\n",
      });
      expect(await run("--sandbox", "read-only", "--timeout", "0.3", "--", "sleep", "300")).toMatchObject({
        code: 124,
      });
    });
  });
});
