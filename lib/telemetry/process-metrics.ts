// What becomes of processes and what passes through them, for all supervisors that report to one meter. Only the
// duration is recorded as it happens, once a process; everything else is a plain number until somebody asks.
import type { Histogram, Meter } from "@opentelemetry/api";
import type { Observable } from "rxjs";
import type { ExitResult, ProcessInfo, StreamName } from "../../protocol/index.ts";
import type { LogCounts } from "../log/log-counts.ts";
import { perMeter, type Reading, report } from "./meter.ts";

/** Upper bounds in seconds: from a command that does nothing to half a day. */
const DURATIONS = [0.01, 0.1, 0.5, 1, 5, 15, 60, 300, 1_800, 7_200, 43_200];

/** The counts of processes. */
export class ProcessMetrics implements LogCounts {
  readonly bytes = { stdin: 0, stdout: 0, stderr: 0, pty: 0 } satisfies Record<"stdin" | StreamName, number>;
  gaps = 0;
  /** Writes acknowledged and not delivered, since they had been before. */
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
    report(meter, [
      {
        name: "exec.process.started",
        unit: process,
        description: "Processes started; a start that failed is none",
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
        description: "Processes that ended; a termination that was asked for wins over the exit code",
        read: () => readings("exec.result", this.#finished),
      },
      {
        name: "exec.process.io",
        unit: "By",
        description: "Bytes that processes printed or were given",
        read: () => readings("exec.stream", this.bytes),
      },
      {
        name: "exec.log.gaps",
        unit: "{gap}",
        description: "Losses of output that readers were told of",
        read: () => [[this.gaps]],
      },
      {
        name: "exec.stdin.duplicates",
        unit: "{write}",
        description: "Repeated writes acknowledged and not delivered again",
        read: () => [[this.duplicates]],
      },
    ]);
  }

  started(): void {
    this.#started += 1;
    this.#running += 1;
  }

  /** A child came to be though its start had been cancelled, and was killed at once. */
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

/** The counts of a meter; by default of the SDK that is registered, if there is one. */
export const processMetrics = perMeter((meter) => new ProcessMetrics(meter));

/**
 * Follows the processes of a supervisor to its end. `resultOf` is asked at the exit. A process that is let go of before
 * its exit is known was terminated, as in the seeds' shutdown. `now` is monotonic, in milliseconds.
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
    // Never ran, or its exit was known before.
    if (start === undefined) return;
    since.delete(incarnation);
    metrics.finished(resultOf(process) ?? "terminated", (now() - start) / 1000);
  });
}

function readings(attribute: string, counts: Readonly<Record<string, number>>): Reading[] {
  return Object.entries(counts).map(([name, count]) => [count, { [attribute]: name }]);
}
