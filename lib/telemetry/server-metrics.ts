// What lost connections cost a server, for all servers that report to one meter.
import type { Meter } from "@opentelemetry/api";
import { perMeter, report } from "./meter.ts";

/** The counts of servers. */
export class ServerMetrics {
  /** Sessions that a client came back to. */
  resumes = 0;
  /** Requests answered with the outcome that they had the first time. */
  duplicates = 0;

  constructor(meter: Meter | undefined) {
    report(meter, [
      {
        name: "exec.session.resumes",
        unit: "{session}",
        description: "Sessions that a client came back to",
        read: () => [[this.resumes]],
      },
      {
        name: "exec.request.duplicates",
        unit: "{request}",
        description: "Repeated requests answered with their first outcome and not done again",
        read: () => [[this.duplicates]],
      },
    ]);
  }
}

/** The counts of a meter; by default of the SDK that is registered, if there is one. */
export const serverMetrics = perMeter((meter) => new ServerMetrics(meter));
