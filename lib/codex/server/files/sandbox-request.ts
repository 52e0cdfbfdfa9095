// The sandbox that a client may request for a process or a file. This server has no sandbox: it decodes the request and accepts
// it only if it asks for no restriction. Ignoring it would run a process unconfined that was meant to be confined.
import { wrongParams } from "../../codex-error.ts";
import { anything, boolean, isMap, listOf, oneOf, optional, refuseType, struct, withDefault } from "../../decode.ts";
import { pathUri } from "../../path-uri.ts";

/** The envelope of the permissions. */
const CONTEXT = struct("WireFileSystemSandboxContext", {
  permissions: { decode: (value: unknown) => value },
  windowsSandboxLevel: oneOf("disabled", "restricted-token", "elevated", "mxc"),
  cwd: optional(pathUri),
  workspaceRoots: withDefault(listOf(pathUri), []),
  windowsSandboxProxySettingsMode: optional(oneOf("reconcile", "preserve")),
  useLegacyLandlock: withDefault(boolean, false),
});

const TYPES = ["managed", "disabled", "external"] as const;
const NETWORK = oneOf("restricted", "enabled");
const EXTERNAL = struct("ExecPermissionProfile", { network: NETWORK });
const MANAGED = struct("ExecPermissionProfile", {
  file_system: { decode: (value: unknown) => value },
  network: NETWORK,
});
const RESTRICTED = struct("ExecManagedFileSystemPermissions", { entries: listOf(anything) });

/** Throws -32602 when the request is malformed or asks for a restriction. Absent and null ask for none. */
export function refuseSandbox(sandbox: unknown): void {
  if (sandbox === undefined || sandbox === null) return;
  const { permissions } = CONTEXT.decode(sandbox);
  const { type, value } = decodeTagged("ExecPermissionProfile", TYPES, permissions);
  if (type === "disabled") return;
  if (type === "external") {
    if (EXTERNAL.decode(value).network === "enabled") return;
    throw unavailable(type, "network restricted");
  }
  const { file_system, network } = MANAGED.decode(value);
  const files = decodeTagged("ExecManagedFileSystemPermissions", ["restricted", "unrestricted"] as const, file_system);
  if (files.type === "restricted") RESTRICTED.decode(files.value);
  if (files.type === "unrestricted" && network === "enabled") return;
  throw unavailable(type, `file_system ${files.type}, network ${network}`);
}

/** Decodes an object that is tagged by its `type`. */
function decodeTagged<W extends string>(name: string, types: readonly W[], value: unknown): { type: W; value: object } {
  if (!isMap(value)) return refuseType(value, `internally tagged enum ${name}`);
  if (!Object.hasOwn(value, "type")) throw wrongParams("missing field `type`");
  if (typeof value.type !== "string") return refuseType(value.type, "variant identifier");
  return { type: oneOf(...types).decode(value.type), value };
}

function unavailable(type: string, asked: string): Error {
  return wrongParams(
    "this exec-server has no sandbox and refuses a request that needs one " +
      `(sandbox.permissions.type is \`${type}\`: ${asked})`,
  );
}
