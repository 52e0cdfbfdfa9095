// Counts what lost connections cause on a server, for all servers that report to one meter.
import type { Meter } from "@opentelemetry/api";
import { perMeter, reportCounts } from "./meter.ts";

/** Counters of servers. */
export class ServerMetrics {
  /** Sessions resumed by a client. */
  resumes = 0;
  /** Repeated requests, answered with their first outcome. */
  duplicates = 0;

  constructor(meter: Meter | undefined) {
    reportCounts(meter, [
      {
        name: "exec.session.resumes",
        unit: "{session}",
        description: "Sessions resumed by a client",
        read: () => [[this.resumes]],
      },
      {
        name: "exec.request.duplicates",
        unit: "{request}",
        description: "Repeated requests answered with their first outcome, not executed again",
        read: () => [[this.duplicates]],
      },
    ]);
  }
}

/** The counters of a meter; by default of the registered SDK, if there is one. */
export const serverMetrics = perMeter((meter) => new ServerMetrics(meter));
