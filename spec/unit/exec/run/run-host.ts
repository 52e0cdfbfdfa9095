// A run with a fake child and a fake clock: the spec determines the order of events.

import type { RunResult } from "../../../../lib/exec/run/result.ts";
import { type Run, startRun } from "../../../../lib/exec/run/run.ts";
import type { RunOptions } from "../../../../lib/exec/run/run-options.ts";
import type { ProcessSpec } from "../../../../protocol/index.ts";
import type { FakeChild } from "../../../support/fake-child.ts";
import { FakeHost } from "../../../support/fake-supervisor.ts";
import { nextTurn } from "../../../support/next-turn.ts";

/** A run in progress, with its child. */
export interface FakeRun {
  readonly run: Run;
  readonly child: FakeChild;
}

/** A supervisor of fake children, for runs. */
export class RunHost extends FakeHost {
  async begin(options: RunOptions = {}, spec: Partial<ProcessSpec> = {}): Promise<FakeRun> {
    const run = startRun(this.supervisor, { argv: ["/fake/program"], ...spec }, { clock: this.clock, ...options });
    await run.process;
    await nextTurn();
    return { run, child: this.spawner.children.at(-1) as FakeChild };
  }

  /** Advances the clock, and runs everything that is due. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await nextTurn();
  }
}

/** Whether there is a result yet. */
export async function resultNow({ result }: Run): Promise<RunResult | undefined> {
  await nextTurn();
  return Promise.race([result, Promise.resolve(undefined)]);
}
