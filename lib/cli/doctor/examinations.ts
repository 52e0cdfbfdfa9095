// Finds out what works on this machine, by trying it: a process, a terminal, a sandbox.

import type { ProcessSpec } from "../../../protocol/index.ts";
import { run } from "../../exec/run/run.ts";
import { createSupervisor } from "../../local/supervisor.ts";
import type { SpawnerName } from "../../spawn/load-spawner.ts";
import { makeRuntimeDirectory, whyNotNamed } from "../server/runtime-directory.ts";
import type { Finding } from "./finding.ts";
import { examineCgroups, examineInit, examineLimits, examineNode, examineUserNamespaces } from "./machine.ts";

/** How long one command may take. */
const TIMEOUT_MS = 20_000;

/** All findings, in the order in which they depend on each other. */
export async function examine(): Promise<readonly Finding[]> {
  const isLinux = process.platform === "linux";
  const findings = [
    examineNode(),
    examineInit(),
    isLinux ? await examineSpawner() : undefined,
    await examineTerminals(),
    isLinux ? examineUserNamespaces() : undefined,
    await examineSandbox(),
    isLinux ? await examineNetwork() : undefined,
    isLinux ? examineCgroups() : undefined,
    ...examineLimits(),
    examineRuntimeDirectory(),
  ];
  return findings.filter((finding) => finding !== undefined);
}

async function examineSpawner(): Promise<Finding> {
  const problem = await attempt({ argv: ["/bin/sh", "-c", "exit 0"] }, "posix");
  if (problem === undefined) return { name: "koffi", status: "ok", found: "children are spawned with posix_spawn" };
  return {
    name: "koffi",
    status: "broken",
    found: problem,
    mend: "install execwire again on this machine (npm rebuild koffi); without it there are no sandboxes and no inherited descriptors",
  };
}

async function examineTerminals(): Promise<Finding> {
  const name = "terminals";
  const problem = await attempt({ argv: ["/bin/sh", "-c", "test -t 0"], tty: true }, "auto");
  if (problem === undefined) return { name, status: "ok", found: "a command gets a terminal" };
  return {
    name,
    status: "broken",
    found: problem,
    mend: "mount /dev/pts and /dev/ptmx; on other systems than Linux, npm rebuild node-pty",
  };
}

async function examineSandbox(): Promise<Finding> {
  const name = "bubblewrap";
  const sandbox = { files: [{ path: { named: "root" }, access: "read" }] } as const;
  const problem = await attempt({ argv: ["/bin/sh", "-c", "exit 0"], cwd: "/", sandbox }, "auto");
  if (problem === undefined) return { name, status: "ok", found: "a command runs in a sandbox" };
  const mend = /does not exist; install/.test(problem)
    ? "apt-get install bubblewrap, dnf install bubblewrap, or apk add bubblewrap bash coreutils util-linux"
    : "see the reason; until then, a command with a sandbox is refused";
  return { name, status: "broken", found: problem, mend };
}

async function examineNetwork(): Promise<Finding> {
  const name = "managed networks";
  const files = [{ path: { named: "root" }, access: "read" }] as const;
  const spec = {
    argv: ["/bin/sh", "-c", "exit 0"],
    cwd: "/",
    sandbox: { files, network: { mode: "managed" } },
  } as const;
  const problem = await attempt(spec, "auto");
  if (problem === undefined) return { name, status: "ok", found: "a command reaches a proxy, and nothing else" };
  const mend = "see the reason; until then, a command with a managed network is refused";
  return { name, status: "broken", found: problem, mend };
}

function examineRuntimeDirectory(): Finding {
  const name = "runtime directory";
  try {
    const directory = makeRuntimeDirectory();
    const why = whyNotNamed();
    if (why === undefined) return { name, status: "ok", found: directory };
    return { name, status: "limited", found: why, mend: "unset XDG_RUNTIME_DIR, or log in with a session of your own" };
  } catch (error) {
    const mend = "remove it, or set XDG_RUNTIME_DIR to a directory that only you can access";
    return { name, status: "broken", found: (error as Error).message, mend };
  }
}

/** Runs a command that must succeed; what went wrong, or undefined. */
async function attempt(spec: ProcessSpec, spawner: SpawnerName): Promise<string | undefined> {
  const supervisor = createSupervisor({ spawner, onSupervisorDeath: "keep", onError: () => undefined });
  try {
    const { exitCode, aggregated } = await run(supervisor, { timeoutMs: TIMEOUT_MS, ...spec });
    return exitCode === 0 ? undefined : `exit code ${exitCode} ${aggregated.text}`.trim();
  } catch (error) {
    return (error as Error).message;
  } finally {
    await supervisor.close({ graceMs: 0 });
  }
}
