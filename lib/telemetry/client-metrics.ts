// How often clients come back, for all clients that report to one meter. It subscribes to a link from outside: the
// client itself also runs in browsers, where there is nothing of this.
import type { Meter } from "@opentelemetry/api";
import type { Observable } from "rxjs";
import { perMeter, report } from "./meter.ts";

/** The counts of clients. */
export class ClientMetrics {
  /** Connections lost and made again. */
  reconnects = 0;

  constructor(meter: Meter | undefined) {
    report(meter, [
      {
        name: "exec.client.reconnects",
        unit: "{connection}",
        description: "Connections lost and made again",
        read: () => [[this.reconnects]],
      },
    ]);
  }
}

/** The counts of a meter; by default of the SDK that is registered, if there is one. */
export const clientMetrics = perMeter((meter) => new ClientMetrics(meter));

/** Follows a link to its end, by the states it goes through (`LinkState`). */
export function followLink(metrics: Pick<ClientMetrics, "reconnects">, state$: Observable<string>): void {
  let isRecovering = false;
  state$.subscribe((state) => {
    if (isRecovering && state === "connected") metrics.reconnects += 1;
    isRecovering = state === "recovering";
  });
}
