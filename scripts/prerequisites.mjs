// Programs that some specs need and a machine may lack. They are looked for here alone, so that a run says once what it leaves
// out instead of once in each spec file.
import { spawnSync } from "node:child_process";
import { existsSync } from "node:fs";
import { findReference } from "./codex/servers.mjs";

export { findReference };

/** Where Debian's package `chromium` puts it; undefined when it is not there. */
export const chromiumPath = ["/usr/bin/chromium"].find((path) => existsSync(path));

/** What of this is not installed. */
export function lacking(...programs) {
  return programs.filter((program) => spawnSync("which", [program]).status !== 0);
}

/** A root of user and process ids of our own; a plain one where that is forbidden and we are root anyway. */
const NAMESPACES = [
  ["unshare", "--user", "--map-root-user", "--pid", "--fork", "--mount-proc"],
  ["unshare", "--pid", "--fork", "--mount-proc"],
];

/** The command that runs a program as PID 1; undefined where the system allows none. */
export function findNamespace() {
  return NAMESPACES.find(([program, ...args]) => spawnSync(program, [...args, "true"]).status === 0);
}

/** What specs leave out on this machine, and why; a line each. */
export function leftOut() {
  const lines = [];
  if (!findReference()) lines.push("the real exec-server under contract: no Codex binary (set CODEX_BIN)");
  if (!chromiumPath) lines.push("the client in a browser: no /usr/bin/chromium");
  const absent = lacking("tmux", "python3");
  if (absent.length > 0) lines.push(`what unrelated processes live through: no ${absent.join(", ")}`);
  if (!findNamespace()) lines.push("the server as PID 1: no namespace of process ids (unshare --pid)");
  return lines;
}
