// The files of a sandbox: translates the rules of a policy to mounts of bubblewrap. Rules are applied from the shallowest path
// to the deepest, so that the most specific one wins.
import { lstat, readlink, realpath, stat } from "node:fs/promises";
import { dirname } from "node:path";
import type { FileAccess, FileRule } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";

/** What bubblewrap mounts. */
export interface FileView {
  readonly args: readonly string[];
  /** Directories, as they are on the host, that the process can write to. */
  readonly writable: readonly string[];
  /** Missing paths that are protected. bubblewrap creates a directory at each, to mount on: see `Placeholders`. */
  readonly placeholders: readonly string[];
}

/** The rule for one path. */
interface PathRule {
  readonly path: string;
  /** Not the host's directory, but an empty one. */
  readonly isPrivate: boolean;
  readonly access: FileAccess;
  readonly ifMissing: NonNullable<FileRule["ifMissing"]>;
}

/** A path on the host: what it really is. */
interface Target {
  readonly path: string;
  readonly isDirectory: boolean;
}

const STRICTNESS: Readonly<Record<FileAccess, number>> = { none: 0, read: 1, write: 2 };

/** The parts of /etc that programs need. Not all of it: a server that runs as root could read shadow and host keys there. */
const PLATFORM_ETC =
  "passwd group hosts hostname host.conf nsswitch.conf resolv.conf localtime timezone ld.so.cache ld.so.conf ld.so.conf.d ssl " +
  "ca-certificates pki alternatives profile profile.d bash.bashrc inputrc services protocols mime.types gitconfig terminfo " +
  "default/locale locale.conf locale.alias machine-id os-release";
/** Directories that other mounts create, or that must exist. */
const SYSTEM = /^\/($|(usr|etc|bin|sbin|lib|lib64|lib32|libx32|dev|proc)(\/|$))/;
/** Directories that are links into /usr on most systems. */
const PLATFORM_ROOTS = ["/bin", "/sbin", "/lib", "/lib64", "/lib32", "/libx32"];
/** Everything that the named path `platform` can show. */
export const PLATFORM_PATHS: readonly string[] = [
  "/usr",
  ...PLATFORM_ROOTS,
  ...PLATFORM_ETC.split(" ").map((name) => `/etc/${name}`),
];

/**
 * Builds the view for a command in `cwd`, which it sees as an empty directory if no rule shows it. Rejects with INVALID_PARAMS for
 * a rule that cannot be enforced.
 */
export async function fileView(rules: readonly FileRule[], cwd = "/"): Promise<FileView> {
  const root = strictest(rules, "root") ?? "none";
  const platform = strictest(rules, "platform") ?? "none";
  const paths = byDepth(rules);
  const args = root === "none" ? ["--tmpfs", "/"] : [root === "write" ? "--bind" : "--ro-bind", "/", "/"];
  if (platform !== "none" && root === "none") args.push(...(await platformArgs()));
  args.push(...(root === "write" && paths.length === 0 ? ["--dev-bind", "/dev", "/dev"] : ["--dev", "/dev"]));
  args.push("--proc", "/proc");
  if (root === "none") args.push("--dir", "/tmp");
  if (root === "none" && !SYSTEM.test(cwd) && !paths.some(({ path }) => path === cwd || isBelow(cwd, path)))
    args.push("--dir", cwd);
  const writable = paths.filter(({ access, isPrivate }) => access === "write" && !isPrivate).map(({ path }) => path);
  const mounts = new Mounts(paths, writable, root === "write");
  for (const rule of paths) await mounts.add(rule);
  args.push(...mounts.args, ...mounts.sealed.flatMap((path) => ["--remount-ro", path]));
  if (root === "none") args.push("--remount-ro", "/");
  return { args, writable: root === "write" ? ["/"] : mounts.writable, placeholders: mounts.placeholders };
}

/** The mounts of rules, in their order. */
class Mounts {
  readonly args: string[] = [];
  /** Directories that hide the host's: read-only once everything below them is mounted. */
  readonly sealed: string[] = [];
  readonly writable: string[] = [];
  readonly placeholders: string[] = [];
  readonly #rules: readonly PathRule[];
  readonly #writable: readonly string[];
  readonly #isRootWritable: boolean;

  constructor(rules: readonly PathRule[], writable: readonly string[], isRootWritable: boolean) {
    this.#rules = rules;
    this.#writable = writable;
    this.#isRootWritable = isRootWritable;
  }

  async add(rule: PathRule): Promise<void> {
    const { path, access } = rule;
    if (rule.isPrivate) return this.#addPrivate(rule);
    const target = await targetOf(path);
    if (!target) return this.#addMissing(rule);
    const isBelowWritable = this.#isRootWritable || this.#writable.some((root) => isBelow(path, root));
    if (target.path !== path && access === "write")
      throw refused(
        path,
        "cannot be writable, since it is a symbolic link or behind one (symlinked writable roots are not supported); name the real path",
        target.path,
      );
    // The process could replace the link, and reach the files behind it by their real path.
    if (target.path !== path && isBelowWritable)
      throw refused(path, "cannot be protected, since it is a symbolic link in a writable directory", target.path);
    if (access === "write") this.writable.push(target.path);
    if (access === "none") this.#hide(rule, target);
    else this.args.push(access === "write" ? "--bind" : "--ro-bind", target.path, target.path);
  }

  #hide({ path }: PathRule, target: Target): void {
    if (!target.isDirectory) {
      this.args.push("--ro-bind", "/dev/null", target.path);
      return;
    }
    // Searchable if something below it is visible.
    const isPassage = this.#rules.some((rule) => rule.access !== "none" && isBelow(rule.path, path));
    this.args.push("--perms", isPassage ? "0111" : "0000", "--tmpfs", target.path);
    this.sealed.push(target.path);
  }

  #addPrivate({ path, access }: PathRule): void {
    this.args.push("--perms", "1777", "--tmpfs", path);
    if (access !== "write") this.sealed.push(path);
  }

  async #addMissing({ path, access, ifMissing }: PathRule): Promise<void> {
    if (ifMissing === "skip") return;
    if (ifMissing === "refuse" || access === "write") throw refused(path, "does not exist");
    // No process of the sandbox can create it elsewhere.
    if (!this.#isRootWritable && !this.#writable.some((root) => isBelow(path, root))) return;
    const firstMissing = await firstMissingParent(path);
    if (this.placeholders.includes(firstMissing)) return;
    this.placeholders.push(firstMissing);
    // A directory: git ignores an empty one, while an empty file is an error for it.
    this.args.push("--perms", access === "none" ? "0000" : "0555", "--tmpfs", firstMissing);
    this.sealed.push(firstMissing);
  }
}

/** The rules for paths, each path once, shallowest first. */
function byDepth(rules: readonly FileRule[]): readonly PathRule[] {
  const strictestOf = new Map<string, PathRule>();
  for (const { path: named, access, ifMissing = "refuse" } of rules) {
    const path = pathOf(named);
    if (path === undefined) continue;
    const other = strictestOf.get(path);
    const isPrivate = typeof named !== "string";
    if (!other || STRICTNESS[access] < STRICTNESS[other.access])
      strictestOf.set(path, { path, isPrivate, access, ifMissing });
  }
  const depth = (path: string) => path.split("/").length;
  return [...strictestOf.values()].sort((a, b) => depth(a.path) - depth(b.path));
}

function pathOf(path: FileRule["path"]): string | undefined {
  if (typeof path === "string") return path;
  return path.named === "tmp" ? "/tmp" : undefined;
}

function strictest(rules: readonly FileRule[], name: "root" | "platform"): FileAccess | undefined {
  const found = rules.filter(({ path }) => typeof path === "object" && path.named === name).map(({ access }) => access);
  return found.sort((a, b) => STRICTNESS[a] - STRICTNESS[b])[0];
}

async function platformArgs(): Promise<readonly string[]> {
  const args = ["--ro-bind", "/usr", "/usr"];
  for (const path of PLATFORM_ROOTS) {
    const link = await readlink(path).catch(() => undefined);
    if (link !== undefined) args.push("--symlink", link, path);
    else args.push("--ro-bind-try", path, path);
  }
  for (const name of PLATFORM_ETC.split(" ")) args.push("--ro-bind-try", `/etc/${name}`, `/etc/${name}`);
  return args;
}

async function targetOf(path: string): Promise<Target | undefined> {
  try {
    const real = await realpath(path);
    return { path: real, isDirectory: (await stat(real)).isDirectory() };
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException;
    // A link that leads nowhere exists, and could be given a target.
    const isLink = await lstat(path).then(
      () => true,
      () => false,
    );
    if (isLink) throw refused(path, "is a symbolic link that leads nowhere");
    if (code === "ENOENT" || code === "ENOTDIR") return undefined;
    throw refused(path, `cannot be looked up: ${code ?? String(error)}`);
  }
}

async function firstMissingParent(path: string): Promise<string> {
  let missing = path;
  while (!(await targetOf(dirname(missing)))) missing = dirname(missing);
  return missing;
}

/** Whether a path lies below a directory. Both are absolute and normalized. */
export function isBelow(path: string, directory: string): boolean {
  return directory === "/" ? path !== "/" : path.startsWith(`${directory}/`);
}

function refused(path: string, why: string, target?: string): ExecwireError {
  const message = `sandbox: ${path} ${why}${target === undefined ? "" : ` (${target})`}`;
  return new ExecwireError("INVALID_PARAMS", message, { data: { field: "sandbox.files", path } });
}
