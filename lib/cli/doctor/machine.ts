// What the kernel and the administrator allow: read from /proc and /sys.
import { accessSync, constants, existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { startState } from "../../spawn/start-state.ts";
import type { Finding } from "./finding.ts";

/** The oldest Node that works. */
const OLDEST = [20, 19] as const;
/** Open files below this are soon used up: each process needs up to four, and each connection one. */
const FEW_FILES = 1024;
/** Fewer processes are soon used up, since the limit is for all programs of a user. */
const FEW_PROCESSES = 512;

/** Whether this Node is new enough. */
export function examineNode(version: string = process.versions.node): Finding {
  const [major = 0, minor = 0] = version.split(".").map(Number);
  const isNew = major > OLDEST[0] || (major === OLDEST[0] && minor >= OLDEST[1]);
  const found = `${version} on ${process.platform} ${process.arch}`;
  if (!isNew) return { name: "node", status: "broken", found, mend: `install Node ${OLDEST.join(".")} or later` };
  if (process.platform === "linux") return { name: "node", status: "ok", found };
  return { name: "node", status: "limited", found, mend: "use Linux: elsewhere only the portable spawner works" };
}

/** Undefined unless this program is process 1. */
export function examineInit(): Finding | undefined {
  if (process.pid !== 1) return undefined;
  const found = "this program is process 1 and does not reap the orphans of other programs";
  return {
    name: "init",
    status: "limited",
    found,
    mend: "start the container with an init: docker run --init, or tini",
  };
}

/** Whether this user may make a user namespace, as far as settings say it. */
export function examineUserNamespaces(): Finding {
  const name = "user namespaces";
  const count = sysctl("user/max_user_namespaces");
  const problem = (found: string, mend: string): Finding => ({ name, status: "broken", found, mend });
  if (count === undefined) return problem("not in this kernel", "use a kernel with CONFIG_USER_NS: sandboxes need it");
  if (count === "0") return problem("none are allowed", "as root: sysctl user.max_user_namespaces=15000");
  if (process.getuid?.() !== 0 && sysctl("kernel/unprivileged_userns_clone") === "0")
    return problem("only root may make one", "as root: sysctl kernel.unprivileged_userns_clone=1");
  if (sysctl("kernel/apparmor_restrict_unprivileged_userns") === "1") {
    const mend =
      "load an AppArmor profile for /usr/bin/bwrap, or sysctl kernel.apparmor_restrict_unprivileged_userns=0";
    return { name, status: "limited", found: `up to ${count}, restricted by AppArmor`, mend };
  }
  return { name, status: "ok", found: `up to ${count}` };
}

/** Whether the memory of a process tree can be limited. */
export function examineCgroups(): Finding {
  const name = "cgroups";
  const mend =
    "optional; under systemd: systemd-run --user --scope -p Delegate=yes execwire serve, or give the container a writable cgroup";
  const limited = (found: string): Finding => ({
    name,
    status: "limited",
    found: `${found}: the memory of a whole process tree cannot be limited`,
    mend,
  });
  const own = read("/proc/self/cgroup")?.match(/^0::(\/.*)$/m)?.[1];
  const root = ["/sys/fs/cgroup", "/sys/fs/cgroup/unified"].find((path) =>
    existsSync(join(path, "cgroup.controllers")),
  );
  if (own === undefined || root === undefined) return limited("no cgroup v2");
  const folder = join(root, own);
  const controllers = read(join(folder, "cgroup.controllers"))?.trim().split(" ") ?? [];
  if (!controllers.includes("memory")) return limited(`${folder} has no controller for memory`);
  if (!isWritable(join(folder, "cgroup.subtree_control"))) return limited(`${folder} is not writable`);
  return { name, status: "ok", found: `${folder} is writable` };
}

/** The limits that commands inherit. */
export function examineLimits(): readonly Finding[] {
  const limits = read("/proc/self/limits");
  if (limits === undefined) return [];
  const findings: Finding[] = [];
  const files = startState().softFiles ?? softOf(limits, "Max open files");
  const found = `open files ${shown(files)}, processes ${shown(softOf(limits, "Max processes"))}`;
  if (files < FEW_FILES) {
    findings.push({
      name: "limits",
      status: "limited",
      found,
      mend: `ulimit -n ${FEW_FILES}, or LimitNOFILE of the service`,
    });
  } else if (softOf(limits, "Max processes") < FEW_PROCESSES) {
    findings.push({
      name: "limits",
      status: "limited",
      found,
      mend: `ulimit -u ${FEW_PROCESSES}, or pids of the container`,
    });
  } else findings.push({ name: "limits", status: "ok", found });
  if (softOf(limits, "Max file locks") !== Number.POSITIVE_INFINITY) {
    findings.push({
      name: "daemons",
      status: "limited",
      found: "a limit of file locks is set, so that daemons of a command are not found after it",
      mend: "ulimit -x unlimited",
    });
  }
  return findings;
}

function softOf(limits: string, name: string): number {
  const soft = new RegExp(`^${name} +(\\S+)`, "m").exec(limits)?.[1];
  return soft === undefined || soft === "unlimited" ? Number.POSITIVE_INFINITY : Number(soft);
}

function shown(limit: number): string {
  return limit === Number.POSITIVE_INFINITY ? "unlimited" : String(limit);
}

function sysctl(name: string): string | undefined {
  return read(`/proc/sys/${name}`)?.trim();
}

function read(path: string): string | undefined {
  try {
    return readFileSync(path, "utf8");
  } catch {
    return undefined;
  }
}

function isWritable(path: string): boolean {
  try {
    accessSync(path, constants.W_OK);
    return true;
  } catch {
    return false;
  }
}
