// The sandbox that a client requests for a process or a file, decoded. A value that only another system can honour is refused by
// its name: it was meant to restrict, so that ignoring it would run a process with more rights than intended.
import { CODE, CodexError, wrongParams } from "../../codex-error.ts";
import {
  anything,
  boolean,
  type Field,
  isMap,
  listOf,
  oneOf,
  optional,
  refuseType,
  string,
  struct,
  withDefault,
} from "../../decode.ts";
import { type PathUri, pathUri } from "../../path-uri.ts";

/** A path of an entry: one path, or a set of paths that the host knows. */
export type RequestedPath =
  | { readonly type: "path"; readonly path: PathUri }
  | { readonly type: "glob_pattern"; readonly pattern: string }
  | { readonly type: "special"; readonly kind: SpecialKind; readonly subpath: string | undefined };

/** Access to one path. */
export interface RequestedEntry {
  readonly path: RequestedPath;
  readonly access: "read" | "write" | "deny" | "none";
  readonly missing_path_behavior: "skip" | undefined;
}

/** A sandbox as a client describes it, in the older and the current form alike. */
export interface RequestedSandbox {
  /** Undefined: unrestricted. */
  readonly entries: readonly RequestedEntry[] | undefined;
  readonly network: "restricted" | "enabled";
  readonly cwd: PathUri | undefined;
  readonly workspaceRoots: readonly PathUri[];
  /** The temporary directories of this host, as the client knows them. */
  readonly temporaryDirectories: readonly PathUri[] | undefined;
}

const KINDS = [
  "root",
  "minimal",
  "current_working_directory",
  "project_roots",
  "tmpdir",
  "slash_tmp",
  "unknown",
] as const;
type SpecialKind = (typeof KINDS)[number];

const ENVELOPE = {
  windowsSandboxLevel: oneOf("disabled", "restricted-token", "elevated", "mxc"),
  cwd: optional(pathUri),
  workspaceRoots: withDefault(listOf(pathUri), []),
  temporaryDirectories: optional(listOf(pathUri)),
  windowsSandboxProxySettingsMode: optional(oneOf("reconcile", "preserve")),
  // Which mechanism of Linux enforces the policy. There is one here.
  useLegacyLandlock: withDefault(boolean, false),
  additionalPermissions: anything,
};
const CONTEXT = struct("WireFileSystemSandboxContext", { permissions: required(), ...ENVELOPE });
/** As older clients send it. */
const LEGACY_CONTEXT = struct("WireFileSystemSandboxContext", { sandboxPolicy: required(), ...ENVELOPE });
const KNOWN_FIELDS = ["permissions", "sandboxPolicy", ...Object.keys(ENVELOPE)];

const NETWORK = oneOf("restricted", "enabled");
const EXTERNAL = struct("ExecPermissionProfile", { network: NETWORK });
const MANAGED = struct("ExecPermissionProfile", { file_system: required(), network: NETWORK });
const PATH: Field<RequestedPath> = { decode: decodePath };
const ENTRY = struct("ExecFileSystemSandboxEntry", {
  path: PATH,
  access: oneOf("read", "write", "deny", "none"),
  missing_path_behavior: optional(oneOf("skip")),
});
const RESTRICTED = struct("ExecManagedFileSystemPermissions", { entries: listOf(ENTRY) });
const LEGACY_READ_ONLY = struct("SandboxPolicy", { network_access: withDefault(boolean, false) });
const LEGACY_EXTERNAL = struct("SandboxPolicy", { network_access: withDefault(NETWORK, "restricted") });
const LEGACY_WORKSPACE = struct("SandboxPolicy", {
  writable_roots: withDefault(listOf(string), []),
  network_access: withDefault(boolean, false),
  exclude_tmpdir_env_var: withDefault(boolean, false),
  exclude_slash_tmp: withDefault(boolean, false),
});

/** Decodes a request; undefined if it asks for no restriction. Throws -32602 if it is malformed or belongs to another system. */
export function decodeSandbox(sandbox: unknown): RequestedSandbox | undefined {
  if (sandbox === undefined || sandbox === null) return undefined;
  const isLegacy = isMap(sandbox) && !("permissions" in sandbox) && "sandboxPolicy" in sandbox;
  const context = isLegacy ? LEGACY_CONTEXT.decode(sandbox) : CONTEXT.decode(sandbox);
  refuseOtherSystems(sandbox as Readonly<Record<string, unknown>>, context.windowsSandboxLevel);
  const profile = "permissions" in context ? profileOf(context.permissions) : legacyProfileOf(context.sandboxPolicy);
  if (profile.entries === undefined && profile.network === "enabled") return undefined;
  const { cwd, workspaceRoots, temporaryDirectories } = context;
  // The directory was the workspace, before there were roots.
  return { ...profile, cwd, workspaceRoots: isLegacy && cwd ? [cwd] : workspaceRoots, temporaryDirectories };
}

/** The error for a sandbox that this host cannot provide. */
export function sandboxUnavailable(message: string): CodexError {
  return new CodexError(CODE.invalidParams, message, { kind: "sandboxUnavailable" });
}

type Profile = Pick<RequestedSandbox, "entries" | "network">;

function profileOf(permissions: unknown): Profile {
  const types = ["managed", "disabled", "external"] as const;
  const { type, value } = decodeTagged("ExecPermissionProfile", types, permissions);
  if (type === "disabled") return { entries: undefined, network: "enabled" };
  if (type === "external") return { entries: undefined, network: EXTERNAL.decode(value).network };
  const { file_system, network } = MANAGED.decode(value);
  const files = decodeTagged("ExecManagedFileSystemPermissions", ["restricted", "unrestricted"] as const, file_system);
  return { entries: files.type === "restricted" ? RESTRICTED.decode(files.value).entries : undefined, network };
}

function legacyProfileOf(policy: unknown): Profile {
  const types = ["danger-full-access", "read-only", "external-sandbox", "workspace-write"] as const;
  const { type, value } = decodeTagged("SandboxPolicy", types, policy);
  const networkOf = (isOpen: boolean) => (isOpen ? "enabled" : "restricted");
  const special = (kind: SpecialKind, access: "read" | "write") =>
    ({ path: { type: "special", kind, subpath: undefined }, access, missing_path_behavior: undefined }) as const;
  switch (type) {
    case "danger-full-access":
      return { entries: undefined, network: "enabled" };
    case "external-sandbox":
      return { entries: undefined, network: LEGACY_EXTERNAL.decode(value).network_access };
    case "read-only": {
      const { network_access } = LEGACY_READ_ONLY.decode(value);
      return { entries: [special("root", "read")], network: networkOf(network_access) };
    }
    case "workspace-write": {
      const fields = LEGACY_WORKSPACE.decode(value);
      const roots = fields.writable_roots.map((root): RequestedEntry => {
        // They were native paths.
        const path = pathUri.decode(root.startsWith("/") ? `file://${encodeURI(root)}` : root);
        return { path: { type: "path", path }, access: "write", missing_path_behavior: undefined };
      });
      const entries = [special("root", "read"), special("project_roots", "write"), ...roots];
      if (!fields.exclude_slash_tmp) entries.push(special("slash_tmp", "write"));
      if (!fields.exclude_tmpdir_env_var) entries.push(special("tmpdir", "write"));
      return { entries, network: networkOf(fields.network_access) };
    }
  }
}

function decodePath(value: unknown): RequestedPath {
  const tagged = decodeTagged("ExecFileSystemPath", ["path", "glob_pattern", "special"] as const, value);
  switch (tagged.type) {
    case "path":
      return { type: "path", path: struct("ExecFileSystemPath", { path: pathUri }).decode(tagged.value).path };
    case "glob_pattern": {
      const { pattern } = struct("ExecFileSystemPath", { pattern: string }).decode(tagged.value);
      return { type: "glob_pattern", pattern };
    }
    case "special": {
      const { value: named } = struct("ExecFileSystemPath", { value: required() }).decode(tagged.value);
      const name = "FileSystemSpecialPath";
      return { type: "special", ...struct(name, { kind: oneOf(...KINDS), subpath: optional(string) }).decode(named) };
    }
  }
}

function refuseOtherSystems(context: Readonly<Record<string, unknown>>, level: string): void {
  if (level !== "disabled")
    throw sandboxUnavailable(`windowsSandboxLevel \`${level}\` is for Windows; this exec-server runs on Linux`);
  const isSet = (name: string) => context[name] !== null && context[name] !== false;
  const foreign = Object.keys(context).find(
    (name) => /^(windows|macos|seatbelt)/i.test(name) && !KNOWN_FIELDS.includes(name) && isSet(name),
  );
  if (foreign !== undefined)
    throw sandboxUnavailable(`\`${foreign}\` is for another system; this exec-server runs on Linux`);
  const { additionalPermissions } = context;
  if (additionalPermissions !== undefined && additionalPermissions !== null)
    throw sandboxUnavailable("`additionalPermissions` is not supported; add its entries to `permissions`");
}

/** Decodes an object that is tagged by its `type`. */
function decodeTagged<W extends string>(name: string, types: readonly W[], value: unknown): { type: W; value: object } {
  if (!isMap(value)) return refuseType(value, `internally tagged enum ${name}`);
  if (!Object.hasOwn(value, "type")) throw wrongParams("missing field `type`");
  if (typeof value.type !== "string") return refuseType(value.type, "variant identifier");
  return { type: oneOf(...types).decode(value.type), value };
}

/** Any value, but not none. */
function required(): Field<unknown> {
  return { decode: (value) => value };
}
