// The sandbox that a client requests for a process or a file, as a policy of this host. What cannot be enforced here is refused by
// name: ignoring it would run a process unconfined that was meant to be confined.
import { resolve } from "node:path";
import type { FileAccess, FileRule, SandboxPolicy } from "../../../protocol/index.ts";
import { CODE, CodexError, wrongParams } from "../codex-error.ts";
import {
  boolean,
  type Decoded,
  type Field,
  isMap,
  listOf,
  oneOf,
  optional,
  refuseType,
  string,
  struct,
  withDefault,
} from "../decode.ts";
import { nativePath, type PathUri, pathUri, toPathUri } from "../path-uri.ts";

const CONTEXT_FIELDS = {
  permissions: { decode: (value: unknown) => value } as Field<unknown>,
  windowsSandboxLevel: oneOf("disabled", "restricted-token", "elevated", "mxc"),
  cwd: optional(pathUri),
  workspaceRoots: withDefault(listOf(pathUri), [] as readonly PathUri[]),
  windowsSandboxProxySettingsMode: optional(oneOf("reconcile", "preserve")),
  useLegacyLandlock: withDefault(boolean, false),
};
/** The envelope of the permissions. */
const CONTEXT = struct("WireFileSystemSandboxContext", CONTEXT_FIELDS);
type Context = Decoded<typeof CONTEXT_FIELDS>;

const TYPES = ["managed", "disabled", "external"] as const;
const NETWORK = oneOf("restricted", "enabled");
const EXTERNAL = struct("ExecPermissionProfile", { network: NETWORK });
const MANAGED = struct("ExecPermissionProfile", {
  file_system: { decode: (value: unknown) => value },
  network: NETWORK,
});
const ENTRY_FIELDS = {
  path: { decode: (value: unknown) => value } as Field<unknown>,
  access: oneOf("read", "write", "deny", "none"),
  missing_path_behavior: optional(oneOf("skip")),
};
const RESTRICTED = struct("ExecManagedFileSystemPermissions", {
  entries: listOf(struct("ExecFileSystemEntry", ENTRY_FIELDS)),
});
type Entry = Decoded<typeof ENTRY_FIELDS>;

const PATH_TYPES = ["path", "glob_pattern", "special"] as const;
const PATH = struct("ExecFileSystemPath", { path: pathUri });
const GLOB = struct("ExecFileSystemPath", { pattern: string });
const SPECIAL = struct("ExecFileSystemPath", { value: { decode: (value: unknown) => value } as Field<unknown> });
const SPECIAL_FIELDS = {
  kind: oneOf("root", "minimal", "current_working_directory", "project_roots", "tmpdir", "slash_tmp", "unknown"),
  subpath: optional(string),
};
const SPECIAL_PATH = struct("FileSystemSpecialPath", SPECIAL_FIELDS);

/** What older clients send instead of permissions. */
const LEGACY_TYPES = ["danger-full-access", "read-only", "external-sandbox", "workspace-write"] as const;
const LEGACY_EXTERNAL = struct("SandboxPolicy", { network_access: withDefault(NETWORK, "restricted") });
const LEGACY = struct("SandboxPolicy", {
  network_access: withDefault(boolean, false),
  writable_roots: withDefault(listOf(string), []),
  exclude_tmpdir_env_var: withDefault(boolean, false),
  exclude_slash_tmp: withDefault(boolean, false),
});

/** In a writable directory these stay read-only: programs outside the sandbox execute or trust what they say. */
const PROTECTED = [".git", ".agents", ".codex", ".aws"];

/** What a path of an entry stands for here. */
interface Place {
  readonly path: FileRule["path"];
  /** A root of the workspace: what is protected in it stays so even if it does not exist yet. */
  readonly isWorkspace?: boolean;
}

/** The policy; undefined if nothing is to be restricted. Throws -32602 when the request is malformed or cannot be enforced. */
export function policyOf(sandbox: unknown, env: NodeJS.ProcessEnv = process.env): SandboxPolicy | undefined {
  if (sandbox === undefined || sandbox === null) return undefined;
  const context = CONTEXT.decode(withPermissions(sandbox));
  refuseOtherSystems(sandbox as Readonly<Record<string, unknown>>);
  const policy = policyOfPermissions(context, env);
  const { windowsSandboxLevel: level } = context;
  if (policy && level !== "disabled")
    throw sandboxUnavailable(`windowsSandboxLevel ${level} is unavailable on this executor`);
  return policy;
}

/** Settings that belong to another system, or widen the permissions in a way that is not known here. */
function refuseOtherSystems(sandbox: Readonly<Record<string, unknown>>): void {
  const foreign = Object.entries(sandbox).find(
    ([name, value]) =>
      /^(windows|macos|seatbelt|additionalPermissions$)/i.test(name) &&
      !Object.hasOwn(CONTEXT_FIELDS, name) &&
      value !== null &&
      value !== false,
  );
  if (foreign) throw sandboxUnavailable(`${foreign[0]} is unavailable on this executor`);
}

/** The request with permissions, also if it has the older `sandboxPolicy`, whose workspace is its directory. */
function withPermissions(sandbox: unknown): unknown {
  if (!isMap(sandbox) || Object.hasOwn(sandbox, "permissions") || !Object.hasOwn(sandbox, "sandboxPolicy"))
    return sandbox;
  const workspaceRoots = sandbox.cwd ? [sandbox.cwd] : [];
  return { ...sandbox, permissions: permissionsOfLegacy(sandbox.sandboxPolicy), workspaceRoots };
}

function permissionsOfLegacy(policy: unknown): object {
  const { type, value } = decodeTagged("SandboxPolicy", LEGACY_TYPES, policy);
  if (type === "danger-full-access") return { type: "disabled" };
  if (type === "external-sandbox") return { type: "external", network: LEGACY_EXTERNAL.decode(value).network_access };
  const { network_access, writable_roots, exclude_slash_tmp, exclude_tmpdir_env_var } = LEGACY.decode(value);
  const special = (kind: string, access: string) => ({ path: { type: "special", value: { kind } }, access });
  const entries: object[] = [special("root", "read")];
  if (type === "workspace-write") {
    entries.push(special("project_roots", "write"));
    if (!exclude_slash_tmp) entries.push(special("slash_tmp", "write"));
    if (!exclude_tmpdir_env_var) entries.push(special("tmpdir", "write"));
    // They were native paths.
    for (const root of writable_roots)
      entries.push({ path: { type: "path", path: root.startsWith("/") ? toPathUri(root) : root }, access: "write" });
  }
  const network = network_access ? "enabled" : "restricted";
  return { type: "managed", file_system: { type: "restricted", entries }, network };
}

function policyOfPermissions(context: Context, env: NodeJS.ProcessEnv): SandboxPolicy | undefined {
  const { type, value } = decodeTagged("ExecPermissionProfile", TYPES, context.permissions);
  if (type === "disabled") return undefined;
  if (type === "external") return withNetwork(undefined, EXTERNAL.decode(value).network);
  const { file_system, network } = MANAGED.decode(value);
  const files = decodeTagged("ExecManagedFileSystemPermissions", ["restricted", "unrestricted"] as const, file_system);
  if (files.type === "unrestricted") return withNetwork(undefined, network);
  return withNetwork(rulesOf(RESTRICTED.decode(files.value).entries, context, env), network);
}

/** Without rules for files, only the network may be restricted. */
function withNetwork(rules: readonly FileRule[] | undefined, network: "restricted" | "enabled") {
  if (network === "enabled") return rules && { files: rules, network: "full" as const, unixSockets: true };
  return { files: rules ?? [{ path: { named: "root" as const }, access: "write" as const }], network: "none" as const };
}

function rulesOf(entries: readonly Entry[], context: Context, env: NodeJS.ProcessEnv): readonly FileRule[] {
  const rules: FileRule[] = [];
  const protectedBy: FileRule[] = [];
  for (const entry of entries) {
    const access: FileAccess = entry.access === "deny" ? "none" : entry.access;
    for (const { path, isWorkspace = false } of placesOf(entry, context, env)) {
      // A missing path is no error, whether the entry says so or not. The command cannot create what it may not write.
      const ifMissing = access === "write" ? "skip" : "protect";
      rules.push({ path, access, ifMissing });
      if (access !== "write" || typeof path !== "string") continue;
      for (const name of PROTECTED) {
        protectedBy.push({ path: resolve(path, name), access: "read", ifMissing: isWorkspace ? "protect" : "skip" });
      }
    }
  }
  // What an entry says about such a path counts.
  const named = new Set(rules.map(({ path }) => path));
  const all = [...rules, ...protectedBy.filter(({ path }) => !named.has(path))];
  // The exec-server's own helper is visible in every sandbox. Ours are programs of the system: without them nothing could start.
  const hasSystem = all.some(({ path }) => typeof path === "object");
  return hasSystem ? all : [{ path: { named: "platform" }, access: "read" }, ...all];
}

/** The policy for a file operation; undefined if no file is restricted, since the network does not matter to it. */
export function filePolicyOf(sandbox: unknown): SandboxPolicy | undefined {
  const policy = policyOf(sandbox);
  const isRestricted = policy?.files.length !== 1 || policy.files[0]?.access !== "write";
  return isRestricted ? policy : undefined;
}

/** The paths of an entry: none if it stands for nothing here. */
function placesOf({ path, access }: Entry, context: Context, env: NodeJS.ProcessEnv): readonly Place[] {
  const { type, value } = decodeTagged("ExecFileSystemPath", PATH_TYPES, path);
  if (type === "path") return [placeOf(nativePath(PATH.decode(value).path))];
  if (type === "glob_pattern") {
    const { pattern } = GLOB.decode(value);
    throw sandboxUnavailable(
      `access ${access} to the pattern ${JSON.stringify(pattern)} is unavailable; name the paths`,
    );
  }
  const { kind, subpath } = SPECIAL_PATH.decode(SPECIAL.decode(value).value);
  switch (kind) {
    case "root":
      return [{ path: { named: "root" } }];
    case "minimal":
      return [{ path: { named: "platform" } }];
    case "current_working_directory":
      return context.cwd ? [{ ...placeOf(nativePath(context.cwd)), isWorkspace: true }] : [];
    case "project_roots":
      return context.workspaceRoots.map((root) => placeBelow(nativePath(root), subpath));
    case "slash_tmp":
      return [placeOf("/tmp")];
    case "tmpdir":
      return env.TMPDIR?.startsWith("/") ? [placeOf(env.TMPDIR)] : [];
    case "unknown":
      // From a newer client. To ignore a permission is safe, to ignore a restriction is not.
      if (access === "deny" || access === "none")
        throw sandboxUnavailable("access to an unknown special path cannot be denied");
      return [];
  }
}

function placeOf(path: string): Place {
  const normal = resolve(path);
  return { path: normal === "/" ? { named: "root" } : normal };
}

function placeBelow(root: string, subpath: string | undefined): Place {
  if (subpath === undefined) return { ...placeOf(root), isWorkspace: true };
  const place = placeOf(resolve(root, subpath));
  const isBelow = typeof place.path === "string" && place.path.startsWith(`${resolve(root).replace(/\/$/, "")}/`);
  if (isBelow) return place;
  throw wrongParams(`the subpath ${JSON.stringify(subpath)} must be below its project root`);
}

/** Decodes an object that is tagged by its `type`. */
function decodeTagged<W extends string>(name: string, types: readonly W[], value: unknown): { type: W; value: object } {
  if (!isMap(value)) return refuseType(value, `internally tagged enum ${name}`);
  if (!Object.hasOwn(value, "type")) throw wrongParams("missing field `type`");
  if (typeof value.type !== "string") return refuseType(value.type, "variant identifier");
  return { type: oneOf(...types).decode(value.type), value };
}

/** The error for a sandbox that this host cannot provide. */
export function sandboxUnavailable(message: string): CodexError {
  return new CodexError(CODE.invalidParams, message, { kind: "sandboxUnavailable" });
}
