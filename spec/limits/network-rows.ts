// Limits of a managed network. All but the first need a sandbox, and so pass without a check where there is none: the list of
// skipped specs says so.
import { expect } from "@jest/globals";
import { run } from "../../lib/exec/run/run.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { Limits, NetworkDecision } from "../../protocol/index.ts";
import { sandboxMissing } from "../../scripts/prerequisites.mjs";
import { refusal } from "../support/refusal.ts";
import { fakeHost, later, type Row } from "./worlds.ts";

const FILES = [{ path: { named: "root" }, access: "read" }] as const;

/** The reasons of the decisions about what a script asks for, with a controller that never answers. */
async function decisionsOf(limits: Partial<Limits>, script: string): Promise<readonly string[]> {
  const decisions: NetworkDecision[] = [];
  const supervisor = createSupervisor({
    limits,
    onNetworkRequest: () => new Promise(() => undefined),
    onNetworkDecision: (decision) => decisions.push(decision),
  });
  later(() => supervisor.close({ graceMs: 0 }));
  const sandbox = { files: FILES, network: { mode: "managed" } } as const;
  await run(supervisor, { argv: ["/bin/bash", "-c", script], env: { PATH: "/usr/bin:/bin" }, sandbox });
  return decisions.map(({ reason }) => reason);
}

export const networkRows = {
  networkHosts: [
    "a network with more patterns is refused",
    async () => {
      const network = { mode: "managed", allow: ["a.test"], deny: ["b.test"] } as const;
      const start = fakeHost({ networkHosts: 1 }).start({ sandbox: { files: FILES, network } });
      expect(await refusal(start)).toEqual({ code: "INVALID_PARAMS", data: { field: "sandbox.network.deny" } });
    },
  ],
  networkConnections: [
    "a further connection is closed at once",
    async () => {
      if (sandboxMissing() !== undefined) return;
      const script = `exec 3<>/dev/tcp/127.0.0.1/3128; exec 4<>/dev/tcp/127.0.0.1/3128
        if read -r -t 5 -u 4; then :; fi; [ $? -le 128 ] && curl -s http://closed.test`;
      expect(await decisionsOf({ networkConnections: 1 }, script)).toEqual([]);
    },
  ],
  networkDecisions: [
    "a further request is refused",
    async () => {
      if (sandboxMissing() !== undefined) return;
      const script = "curl -s http://a.test";
      expect(await decisionsOf({ networkDecisions: 0 }, script)).toEqual(["too_many_pending"]);
    },
  ],
  networkDecisionMs: [
    "a request without an answer is refused after this time",
    async () => {
      if (sandboxMissing() !== undefined) return;
      expect(await decisionsOf({ networkDecisionMs: 1 }, "curl -s http://a.test")).toEqual(["decision_timeout"]);
    },
  ],
} satisfies Partial<Record<keyof Limits, Row>>;
