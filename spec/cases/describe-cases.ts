// The backends that public bug reports run on: a local one, one on a good network, and one on a bad network. That all
// backends keep the promises behind them is asserted by spec/contract.

import type { Limits } from "../../protocol/index.ts";
import { describeBackends, type Subject } from "../contract/backends.ts";

/** Names of the factories in spec/contract/backends.ts. */
const BACKENDS = ["local", "websocket", "cutting"];

/** Runs `body` on each of these backends; all cases of a block share one with these limits. */
export function describeCases(category: string, body: (subject: Subject) => void, limits: Partial<Limits> = {}): void {
  describeBackends(category, body, limits, BACKENDS);
}
