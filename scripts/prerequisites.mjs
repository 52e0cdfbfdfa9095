// Finds the programs that some specs need and a machine may lack. Only here, so that a run lists the skipped specs once and not
// in each spec file.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findReference } from "./codex/servers.mjs";

export { findReference };

/** The path of Chromium from Debian's package `chromium`; undefined if it is not installed. */
export const chromiumPath = ["/usr/bin/chromium"].find((path) => existsSync(path));

/** Those of the programs that are not installed. */
export function lacking(...programs) {
  return programs.filter((program) => spawnSync("which", [program]).status !== 0);
}

/** New user and pid namespaces; only a pid namespace if user namespaces are forbidden and we are root. */
const NAMESPACES = [
  ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"],
  ["unshare", "--pid", "--fork", "--mount-proc"],
];

/** The command that runs a program as PID 1; undefined if the system does not allow it. */
export function findNamespace() {
  return NAMESPACES.find(([program, ...args]) => spawnSync(program, [...args, "true"]).status === 0);
}

/** The command that runs a program as an unprivileged user, who can read `folder`; undefined if the system does not allow it. */
export function unprivileged(folder) {
  // The user that owns nothing, by its number.
  const command = ["setpriv", "--reuid", "65534", "--regid", "65534", "--clear-groups"];
  return spawnSync(command[0], [...command.slice(1), "ls", folder]).status === 0 ? command : undefined;
}

/** Why sandboxes cannot be set up here; undefined if they can. */
export function sandboxMissing() {
  if (!existsSync("/usr/bin/bwrap")) return "bubblewrap is not installed";
  const args = ["--unshare-user", "--unshare-pid", "--unshare-net", "--disable-userns", "--ro-bind", "/", "/"];
  const { status, stderr } = spawnSync("/usr/bin/bwrap", [...args, "--proc", "/proc", "--", "/usr/bin/env", "true"]);
  return status === 0 ? undefined : stderr.toString().trim();
}

/** The specs that are skipped on this machine and why, one per line. */
export function skippedSpecs() {
  const lines = [];
  if (!findReference())
    lines.push("the contract suite on the Codex exec-server: there is no Codex binary (set CODEX_BIN)");
  if (!chromiumPath) lines.push("the client in a browser: there is no /usr/bin/chromium");
  const absent = lacking("tmux", "python3");
  if (absent.length > 0) lines.push(`the survival of unrelated processes: ${absent.join(", ")} not installed`);
  if (lacking("zsh").length > 0) lines.push("snapshots of zsh: zsh is not installed");
  if (!findNamespace()) lines.push("the server as PID 1: cannot create a pid namespace (unshare --pid)");
  if (!unprivileged(import.meta.dirname))
    lines.push("commands that become root: cannot run a program as another user (setpriv)");
  const noSandbox = sandboxMissing();
  if (noSandbox !== undefined) lines.push(`sandboxes: ${noSandbox}`);
  return lines;
}
