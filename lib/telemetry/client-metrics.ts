// Counts reconnects of all clients that report to one meter. It observes links from outside, since the client itself also runs
// in browsers, where these metrics do not exist.
import type { Meter } from "@opentelemetry/api";
import type { Observable } from "rxjs";
import { perMeter, reportCounts } from "./meter.ts";

/** Counters of clients. */
export class ClientMetrics {
  /** Connections lost and re-established. */
  reconnects = 0;

  constructor(meter: Meter | undefined) {
    reportCounts(meter, [
      {
        name: "exec.client.reconnects",
        unit: "{connection}",
        description: "Connections lost and re-established",
        read: () => [[this.reconnects]],
      },
    ]);
  }
}

/** The counters of a meter; by default of the registered SDK, if there is one. */
export const clientMetrics = perMeter((meter) => new ClientMetrics(meter));

/** Counts the reconnects of a link until it ends, from its states (`LinkState`). */
export function followLink(metrics: Pick<ClientMetrics, "reconnects">, state$: Observable<string>): void {
  let isRecovering = false;
  state$.subscribe((state) => {
    if (isRecovering && state === "connected") metrics.reconnects += 1;
    isRecovering = state === "recovering";
  });
}
