// What is counted of logs, in plain numbers: counting costs an addition where it happens, and whoever wants to know reads
// them when it likes. Several logs may share one.
import type { StreamName } from "../../protocol/index.ts";

/** Totals over all the logs that were given it. */
export interface LogCounts {
  /** Output bytes printed, evicted or not. */
  readonly bytes: Record<StreamName, number>;
  /** Losses that readers were told of: each reader, and each loss, counts. */
  gaps: number;
}
