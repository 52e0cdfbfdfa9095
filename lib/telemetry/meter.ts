// Reports metrics to the application's OpenTelemetry SDK, if it has one. Without an SDK the API is not even loaded, since that
// takes half as long as starting the program.
import { createRequire } from "node:module";
import type { Attributes, Meter } from "@opentelemetry/api";

/** The key under which version 1 of the API stores the registered SDK (its internal/global-utils). */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** A value to report, with the attributes that distinguish it from others of the same metric. */
export type Reading = readonly [value: number, attributes?: Attributes];

/** A counter that the SDK reads when it collects. */
export interface Count {
  readonly name: string;
  /** In UCUM notation: `{process}`, `By`. */
  readonly unit: string;
  readonly description: string;
  /** Whether it may also decrease. */
  readonly upDown?: boolean;
  readonly read: () => readonly Reading[];
}

/**
 * Creates one object per meter and returns the same one each time. All supervisors and servers of a program must share their
 * callbacks: with two callbacks of the same name, the SDK treats the sum of one as the next value of the other.
 */
export function perMeter<T>(make: (meter: Meter | undefined) => T): (meter?: Meter) => T {
  const made = new WeakMap<Meter, T>();
  return (meter = registeredMeter()) => {
    if (!meter) return make(undefined);
    let known = made.get(meter);
    if (!known) {
      known = make(meter);
      made.set(meter, known);
    }
    return known;
  };
}

/** Registers counters, which cost nothing until the SDK collects. */
export function reportCounts(meter: Meter | undefined, counts: readonly Count[]): void {
  for (const { name, unit, description, upDown = false, read } of counts) {
    // 0 is ValueType.INT; the enum itself would load the API.
    const options = { unit, description, valueType: 0 };
    const instrument = upDown
      ? meter?.createObservableUpDownCounter(name, options)
      : meter?.createObservableCounter(name, options);
    instrument?.addCallback((result) => {
      for (const [value, attributes] of read()) result.observe(value, attributes);
    });
  }
}

/** The meter of the SDK that the application has registered; undefined if there is none yet. */
function registeredMeter(): Meter | undefined {
  if (!(REGISTERED in globalThis)) return undefined;
  const load = createRequire(import.meta.url);
  try {
    const { metrics } = load("@opentelemetry/api") as typeof import("@opentelemetry/api");
    const { version } = load("execwire/package.json") as { version: string };
    return metrics.getMeter("execwire", version);
  } catch {
    // Bundled into another program, which then has to pass its own meter.
    return undefined;
  }
}
