// Counts processes, their results and their I/O, for all supervisors that report to one meter. Only the duration is recorded at
// once, one value per process; all else is a plain number until the SDK collects.
import type { Histogram, Meter } from "@opentelemetry/api";
import type { Observable } from "rxjs";
import type { ExitResult, ProcessInfo, StreamName } from "../../protocol/index.ts";
import type { LogCounts } from "../log/replay-log.ts";
import { perMeter, type Reading, reportCounts } from "./meter.ts";

/** Upper bounds in seconds, from a trivial command to half a day. */
const DURATIONS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 43_200];

/** Counters of processes. */
export class ProcessMetrics implements LogCounts {
  readonly bytes = { stdin: 0, stdout: 0, stderr: 0, pty: 0 } satisfies Record<"stdin" | StreamName, number>;
  gaps = 0;
  /** Repeated writes, acknowledged but not delivered again. */
  duplicates = 0;
  readonly #finished: Record<ExitResult, number> = { success: 0, error: 0, terminated: 0 };
  readonly #duration: Histogram | undefined;
  #started = 0;
  #running = 0;

  constructor(meter: Meter | undefined) {
    this.#duration = meter?.createHistogram("exec.process.duration", {
      unit: "s",
      description: "Time from the start of a process to its exit",
      advice: { explicitBucketBoundaries: DURATIONS },
    });
    const process = "{process}";
    reportCounts(meter, [
      {
        name: "exec.process.started",
        unit: process,
        description: "Processes started, without failed starts",
        read: () => [[this.#started]],
      },
      {
        name: "exec.process.running",
        unit: process,
        description: "Processes whose exit is not known",
        upDown: true,
        read: () => [[this.#running]],
      },
      {
        name: "exec.process.finished",
        unit: process,
        description: "Processes that ended; a requested termination takes precedence over the exit code",
        read: () => readings("exec.result", this.#finished),
      },
      {
        name: "exec.process.io",
        unit: "By",
        description: "Bytes printed by processes or written to their stdin",
        read: () => readings("exec.stream", this.bytes),
      },
      {
        name: "exec.log.gaps",
        unit: "{gap}",
        description: "Gaps in output reported to readers",
        read: () => [[this.gaps]],
      },
      {
        name: "exec.stdin.duplicates",
        unit: "{write}",
        description: "Repeated writes acknowledged but not delivered again",
        read: () => [[this.duplicates]],
      },
    ]);
  }

  started(): void {
    this.#started += 1;
    this.#running += 1;
  }

  /** Counts a child that was spawned although its start had been cancelled, and was killed at once. */
  discarded(): void {
    this.started();
    this.finished("terminated", 0);
  }

  finished(result: ExitResult, seconds: number): void {
    this.#running -= 1;
    this.#finished[result] += 1;
    this.#duration?.record(seconds, { "exec.result": result });
  }
}

/** The counters of a meter; by default of the registered SDK, if there is one. */
export const processMetrics = perMeter((meter) => new ProcessMetrics(meter));

/**
 * Counts the processes of a supervisor until it ends. `resultOf` is called at the exit. A process released before its exit is
 * known counts as terminated. `now` is monotonic, in milliseconds.
 */
export function followProcesses(
  metrics: Pick<ProcessMetrics, "started" | "finished">,
  changes$: Observable<ProcessInfo>,
  resultOf: (process: ProcessInfo) => ExitResult | undefined,
  now: () => number = () => performance.now(),
): void {
  const since = new Map<string, number>();
  changes$.subscribe((process) => {
    const { incarnation, state } = process;
    if (state === "running") {
      since.set(incarnation, now());
      return metrics.started();
    }
    const start = since.get(incarnation);
    // The process never ran, or its exit was counted already.
    if (start === undefined) return;
    since.delete(incarnation);
    metrics.finished(resultOf(process) ?? "terminated", (now() - start) / 1000);
  });
}

function readings(attribute: string, counts: Readonly<Record<string, number>>): Reading[] {
  return Object.entries(counts).map(([name, count]) => [count, { [attribute]: name }]);
}
