// A supervisor and a workspace for the specs of the sandbox, which run real commands under bubblewrap.
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { afterAll, describe } from "@jest/globals";
import type { RunResult } from "../../lib/exec/run/result.ts";
import { run } from "../../lib/exec/run/run.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { FileRule, ProcessSpec, SandboxPolicy } from "../../protocol/index.ts";
import { sandboxMissing } from "../../scripts/prerequisites.mjs";
import { makeScratch } from "../support/scratch.ts";

/** `describe`, or a skip that names the reason: nothing else on this machine can enforce a policy. */
export function describeSandbox(name: string, specs: () => void): void {
  const reason = sandboxMissing();
  if (reason === undefined) describe(name, specs);
  else describe.skip(`${name} (skipped: ${reason})`, specs);
}

export const READ_ONLY: SandboxPolicy = { files: [{ path: { named: "root" }, access: "read" }] };

/** A supervisor, and a workspace with a git folder in it beside a folder outside of it. */
export function makeHost() {
  const scratch = makeScratch();
  const supervisor = createSupervisor();
  afterAll(() => supervisor.close({ graceMs: 0 }));
  const workspace = scratch("workspace");
  const outside = scratch("outside");
  mkdirSync(join(workspace, ".git"), { recursive: true });
  mkdirSync(outside);
  writeFileSync(join(workspace, ".git/config"), "config");
  writeFileSync(join(workspace, "file"), "inside");
  writeFileSync(join(outside, "secret"), "outside");
  const writable: readonly FileRule[] = [
    { path: { named: "root" }, access: "read" },
    { path: workspace, access: "write" },
    { path: join(workspace, ".git"), access: "read" },
  ];
  return {
    supervisor,
    workspace,
    outside,
    workspaceWrite: { files: writable } satisfies SandboxPolicy,
    /** Runs a shell script in the workspace. */
    sh: (script: string, sandbox: SandboxPolicy, spec: Partial<ProcessSpec> = {}): Promise<RunResult> =>
      run(supervisor, {
        argv: ["/bin/sh", "-c", script],
        cwd: workspace,
        env: { PATH: "/usr/bin:/bin" },
        sandbox,
        ...spec,
      }),
  };
}
