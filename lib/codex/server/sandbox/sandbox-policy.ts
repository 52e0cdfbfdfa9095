// Translates a requested sandbox to a policy. Where the two languages differ, the stricter reading is taken:
// - of two entries for one path, the stricter counts (the exec-server takes the more permissive)
// - a pattern, and a set of paths that this server does not know, are refused
// - unix sockets are closed with an open network too: behind them are servers that act outside of the sandbox
import { isAbsolute, join, posix } from "node:path";
import type { FileAccess, FileRule, SandboxPolicy } from "../../../../protocol/index.ts";
import { CODE, CodexError } from "../../codex-error.ts";
import { nativePath, type PathUri } from "../../path-uri.ts";
import { type RequestedEntry, type RequestedSandbox, sandboxUnavailable } from "./sandbox-request.ts";

/** What programs outside of the sandbox run or obey, if it is in their working directory: read-only, also if it is missing. */
const PROTECTED = [".git", ".agents", ".codex", ".aws"];
const ROOT = { path: { named: "root" } } as const;
const PLATFORM = { path: { named: "platform" } } as const;

/** The policy; `tmpdir` is the temporary directory that the process gets, besides /tmp. Throws -32602. */
export function policyOf(sandbox: RequestedSandbox, tmpdir: string | undefined): SandboxPolicy {
  const network = sandbox.network === "enabled" ? "full" : "none";
  if (sandbox.entries === undefined) return { files: [{ ...ROOT, access: "write" }], network };
  if (sandbox.cwd) here(sandbox.cwd, "policy cwd");
  const roots = sandbox.workspaceRoots.map((root) => here(root, "workspace root"));
  const temporary =
    sandbox.temporaryDirectories?.map((path) => here(path, "temporary directory")) ??
    (tmpdir && isAbsolute(tmpdir) ? [normal(tmpdir)] : []);
  const places: Places = { roots, temporary };
  const rules = sandbox.entries.flatMap((entry) => rulesOf(entry, places));
  const files = [...protectionOf(rules, places), ...rules];
  // The exec-server's own helper stays visible in every sandbox. Ours are programs of the system.
  if (!files.some(({ path }) => typeof path === "object")) files.unshift({ ...PLATFORM, access: "read" });
  return { files, network };
}

interface Places {
  readonly roots: readonly string[];
  readonly temporary: readonly string[];
}

function rulesOf(entry: RequestedEntry, places: Places): readonly FileRule[] {
  const { path } = entry;
  const access: FileAccess = entry.access === "deny" ? "none" : entry.access;
  // A missing path is granted to no one. A restriction of it holds, so that it cannot be created.
  const ifMissing = access === "write" || entry.missing_path_behavior === "skip" ? "skip" : "protect";
  const rule = (native: string): FileRule =>
    native === "/" ? { ...ROOT, access } : { path: native, access, ifMissing };
  if (path.type === "path") return [rule(here(path.path, "permission path"))];
  if (path.type === "glob_pattern")
    throw sandboxUnavailable(`the pattern \`${path.pattern}\` cannot be enforced; name the paths themselves`);
  switch (path.kind) {
    case "root":
      return [{ ...ROOT, access }];
    case "minimal":
      if (access === "write") throw sandboxUnavailable("`minimal` cannot be writable");
      return [{ ...PLATFORM, access }];
    case "slash_tmp":
      return [rule("/tmp")];
    case "tmpdir":
      return places.temporary.map(rule);
    case "project_roots":
    case "current_working_directory":
      return places.roots.map((root) => rule(below(root, path.subpath)));
    case "unknown":
      throw sandboxUnavailable("the special path `unknown` cannot be enforced");
  }
}

/** Rules that protect the writable directories, except where an entry names one of these paths as writable. */
function protectionOf(rules: readonly FileRule[], { temporary }: Places): readonly FileRule[] {
  const writable = rules.filter(({ access }) => access === "write").map(({ path }) => path);
  return writable.flatMap((root) => {
    // No marker is left in directories that everyone uses.
    const isTemporary = root === "/tmp" || temporary.includes(root as string);
    return PROTECTED.flatMap((name): FileRule[] => {
      const path = typeof root === "string" && !PROTECTED.includes(posix.basename(root)) ? join(root, name) : undefined;
      if (path === undefined || writable.includes(path)) return [];
      return [{ path, access: "read", ifMissing: isTemporary ? "skip" : "protect" }];
    });
  });
}

function below(root: string, subpath: string | undefined): string {
  if (subpath === undefined) return root;
  const path = posix.normalize(subpath).replace(/\/$/, "");
  if (isAbsolute(path) || path === "." || path === ".." || path.startsWith("../"))
    throw unprepared(`subpath \`${subpath}\` is not below its root`);
  return join(root, path);
}

/** The native path of a URI, normalized. */
function here(uri: PathUri, what: string): string {
  try {
    return normal(nativePath(uri));
  } catch (error) {
    throw unprepared(`invalid sandbox ${what}: ${(error as Error).message}`);
  }
}

function normal(path: string): string {
  const normalized = posix.normalize(path);
  return normalized === "/" ? normalized : normalized.replace(/\/$/, "");
}

function unprepared(reason: string): CodexError {
  return new CodexError(CODE.invalidParams, `failed to prepare process sandbox: ${reason}`, {
    kind: "sandboxPreparation",
  });
}
