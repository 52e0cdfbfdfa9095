// A supervisor with fake children and a fake clock, and helpers to start a process and inspect it.
import { createSupervisor, type Supervisor, type SupervisorOptions } from "../../lib/local/supervisor.ts";
import type { Process } from "../../lib/process/process.ts";
import { type Delivery, limits, type ProcessSpec } from "../../protocol/index.ts";
import { type FakeChild, FakeSpawner } from "./fake-child.ts";
import { FakeClock } from "./fake-clock.ts";

/** A process with its child and everything that its log has delivered so far. */
export interface FakeProcess {
  readonly process: Process;
  readonly child: FakeChild;
  readonly events: Delivery[];
}

/** A supervisor of fake children. */
export class FakeHost {
  readonly clock = new FakeClock();
  readonly spawner = new FakeSpawner();
  /** Errors reported to `onError`. */
  readonly errors: unknown[] = [];
  readonly supervisor: Supervisor;

  constructor(options: Omit<SupervisorOptions, "spawner" | "clock" | "onError"> = {}) {
    const { clock, spawner, errors } = this;
    const onError = (error: unknown) => errors.push(error);
    this.supervisor = createSupervisor({ ...options, spawner: async () => spawner, clock, onError });
  }

  async start(spec: Partial<ProcessSpec> = {}): Promise<FakeProcess> {
    const process = await this.supervisor.start({ argv: ["/fake/program"], ...spec });
    const child = this.spawner.children.at(-1) as FakeChild;
    const events: Delivery[] = [];
    process.events().subscribe({ next: (event) => events.push(event), error: () => undefined });
    return { process, child, events };
  }

  /** Closes the supervisor; children that ignore SIGKILL are released. */
  async close(): Promise<void> {
    const closed = this.supervisor.close();
    this.clock.advance(limits.graceMs + limits.closeDeadlineMs);
    await closed;
  }
}
