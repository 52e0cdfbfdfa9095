// Counters of logs, as plain numbers: counting costs one addition, and telemetry reads the totals when it needs them. Several
// logs may share one set.
import type { StreamName } from "../../protocol/index.ts";

/** Totals of all logs that share it. */
export interface LogCounts {
  /** Output bytes printed, evicted or not. */
  readonly bytes: Record<StreamName, number>;
  /** Gaps delivered to readers: each reader and each loss counts. */
  gaps: number;
}
