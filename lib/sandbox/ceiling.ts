// A policy for every command of a supervisor. A command may have a stricter one of its own, and never a wider one.
import { realpathSync } from "node:fs";
import { realpath } from "node:fs/promises";
import { checkSandbox, type FileRule, present, type SandboxPolicy } from "../../protocol/index.ts";
import { ExecwireError, refuse } from "../errors.ts";
import { strictestBounds, wideningOf } from "./narrowing.ts";

/** The widest policy that a supervisor applies. */
export class Ceiling {
  readonly #policy: SandboxPolicy;

  /** Throws INVALID_PARAMS for an invalid policy. Its paths are resolved now: a link that changes later widens nothing. */
  constructor(policy: SandboxPolicy) {
    refuse(checkSandbox(policy));
    const files = policy.files.map((rule) =>
      typeof rule.path === "string" ? { ...rule, path: real(rule.path) } : rule,
    );
    this.#policy = { ...policy, files };
  }

  /** The policy for a command that asks for `policy`, or for none. Throws FORBIDDEN if it is not proved to be stricter. */
  under(policy: SandboxPolicy | undefined): SandboxPolicy {
    if (policy === undefined) return this.#policy;
    const own = this.#withPrivateTmp(policy);
    const widening = wideningOf(own, this.#policy);
    if (widening !== undefined) throw forbidden(widening);
    const limits = strictestBounds(own.limits, this.#policy.limits);
    return present({ ...own, limits: Object.keys(limits).length > 0 ? limits : undefined });
  }

  /** A policy that says nothing about /tmp does not mean the host's, where that is hidden: it gets an empty one. */
  #withPrivateTmp(policy: SandboxPolicy): SandboxPolicy {
    if (!this.#policy.files.some(isPrivateTmp)) return policy;
    if (policy.files.some((rule) => isPrivateTmp(rule) || rule.path === "/tmp")) return policy;
    return { ...policy, files: [...policy.files, { path: { named: "tmp" }, access: "read" }] };
  }

  /** Rejects with FORBIDDEN if a path of the policy is not what it seems to be: it was compared by its name. */
  async checkLinks(policy: SandboxPolicy): Promise<void> {
    if (policy === this.#policy) return;
    for (const { path } of policy.files) {
      if (typeof path !== "string") continue;
      const target = await realpath(path).catch(() => path);
      if (target !== path) throw forbidden(`${path} leads to ${target}`);
    }
  }
}

function isPrivateTmp({ path }: FileRule): boolean {
  return typeof path === "object" && path.named === "tmp";
}

function real(path: string): string {
  try {
    return realpathSync(path);
  } catch {
    // The rule says what to do about a missing path.
    return path;
  }
}

function forbidden(why: string): ExecwireError {
  const message = `sandbox: it may only be stricter than the sandbox of this server, and ${why}`;
  return new ExecwireError("FORBIDDEN", message, { data: { field: "sandbox" } });
}
