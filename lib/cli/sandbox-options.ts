// The sandbox of a command, as the command line describes it.
import { resolve } from "node:path";
import { type Command, Option } from "commander";
import type { FileRule, SandboxPolicy } from "../../protocol/index.ts";
import { UsageError } from "./report.ts";

/** What a sandbox leaves open before the other options are applied. */
const KINDS = ["read-only", "workspace-write", "restricted"] as const;
/** In a writable directory, these stay read-only: a program that runs later, outside, executes what they say. */
const PROTECTED = [".git", ".codex", ".agents"];

/** Options of a command that may run in a sandbox, as they are parsed. */
export interface SandboxOptions {
  readonly sandbox?: (typeof KINDS)[number];
  readonly writable: readonly string[];
  readonly deny: readonly string[];
  readonly network?: "full" | "none" | "managed";
  readonly allowHost: readonly string[];
  readonly denyHost: readonly string[];
  readonly allowLocal?: boolean;
}

/** Adds the options; `name` is the one that selects the kind. */
export function addSandboxOptions(command: Command, name: "--sandbox" | "--sandbox-default" = "--sandbox"): void {
  const kind = name === "--sandbox" ? "what a command may write, see below" : "what every command may write, see below";
  command
    .addOption(new Option(`${name} <kind>`, kind).choices(KINDS))
    .option("--writable <directory>", `with ${name}: also writable; may be repeated`, collect, [])
    .option("--deny <path>", `with ${name}: neither readable nor writable; may be repeated`, collect, [])
    .addOption(
      new Option("--network <kind>", `with ${name}: its network (default: none)`).choices(["full", "none", "managed"]),
    )
    .option("--allow-host <pattern>", "with --network managed: a host that it reaches; may be repeated", collect, [])
    .option(
      "--deny-host <pattern>",
      "with --network managed: a host that it never reaches; may be repeated",
      collect,
      [],
    )
    .option("--allow-local", "with --network managed: hosts with private and loopback addresses too");
}

/** The policy for a command in `cwd`; undefined without a sandbox. Throws a UsageError for an option that needs one. */
export function sandboxPolicy(options: SandboxOptions, cwd: string | undefined): SandboxPolicy | undefined {
  const { sandbox, network, writable, deny, allowHost, denyHost, allowLocal = false } = options;
  if (network !== "managed" && (allowHost.length > 0 || denyHost.length > 0 || allowLocal))
    throw new UsageError("--allow-host, --deny-host and --allow-local need --network managed");
  if (sandbox === undefined) {
    if (network !== undefined || writable.length > 0 || deny.length > 0)
      throw new UsageError("--writable, --deny and --network need --sandbox read-only, workspace-write or restricted");
    return undefined;
  }
  if (cwd === undefined) throw new UsageError("--sandbox needs to know the working directory: add --cwd <directory>");
  const absolute = (path: string) => resolve(cwd, path);
  const writableRoots = [...(sandbox === "workspace-write" ? [cwd] : []), ...writable.map(absolute)];
  // A workspace in /tmp must not have a writable directory around it, and one that is /tmp is the host's.
  const hasTmp = sandbox !== "read-only" && ![cwd, ...writableRoots].some((path) => `${path}/`.startsWith("/tmp/"));
  const files: FileRule[] = [
    { path: { named: sandbox === "restricted" ? "platform" : "root" }, access: "read" },
    ...(hasTmp ? [{ path: { named: "tmp" }, access: "write" } as const] : []),
    ...(sandbox === "restricted" ? [{ path: cwd, access: "read" } as const] : []),
    ...writableRoots.flatMap((root): FileRule[] => [
      { path: root, access: "write" },
      ...PROTECTED.map((name) => ({ path: resolve(root, name), access: "read", ifMissing: "skip" }) as const),
    ]),
    ...deny.map((path) => ({ path: absolute(path), access: "none", ifMissing: "skip" }) as const),
  ];
  if (network !== "managed") return { files, network: network ?? "none" };
  return { files, network: { mode: "managed", allow: allowHost, deny: denyHost, allowLocal } };
}

/** The part of the help that explains the kinds. */
export const SANDBOX_HELP = `
Sandbox (Linux, with the package bubblewrap installed; nothing runs if the sandbox cannot be set up):
  read-only         reads everything that you may read, writes nothing
  workspace-write   and writes the working directory, except its .git
  restricted        sees only the system's programs and the working directory, which is read-only
The last two have a /tmp of their own, unless the working directory is in /tmp. In each of them the command
has no network, unless --network full, and cannot reach other processes.

With --network managed, it reaches only a proxy, which its variables such as HTTPS_PROXY name, and through it
the hosts of --allow-host, except those of --deny-host: name, *.name (any below it), **.name (it and any below
it) or * (any). Private and loopback addresses must be named themselves, or permitted by --allow-local.`;

function collect(value: string, earlier: readonly string[]): readonly string[] {
  return [...earlier, value];
}
