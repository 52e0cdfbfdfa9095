// Where metrics go: the application's OpenTelemetry SDK, if it has one. The API is not even loaded where there is none,
// since that alone takes as long as half the start of a program.
import { createRequire } from "node:module";
import type { Attributes, Meter } from "@opentelemetry/api";

/** Where the API of major version 1 keeps what an application registers (its internal/global-utils). */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");

/** A number to report, with what tells it from others of the same name. */
export type Reading = readonly [value: number, attributes?: Attributes];

/** A count that an SDK asks for when it collects. */
export interface Count {
  readonly name: string;
  /** What is counted, as UCUM writes it: `{process}`, `By`. */
  readonly unit: string;
  readonly description: string;
  /** It may also go down. */
  readonly upDown?: boolean;
  readonly read: () => readonly Reading[];
}

/**
 * Makes one object for each meter, and always the same: the SDK takes the sum that one of two callbacks of the same name
 * reports for the successor of the other's, so all supervisors and servers of a program must report in one.
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

/** Has the SDK ask for these when it collects; nothing happens at any other time. */
export function report(meter: Meter | undefined, counts: readonly Count[]): void {
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

/** The meter of whatever SDK the application has registered by now. */
function registeredMeter(): Meter | undefined {
  if (!(REGISTERED in globalThis)) return undefined;
  const load = createRequire(import.meta.url);
  try {
    const { metrics } = load("@opentelemetry/api") as typeof import("@opentelemetry/api");
    const { version } = load("execwire/package.json") as { version: string };
    return metrics.getMeter("execwire", version);
  } catch {
    // Bundled into another program, which then passes a meter of its own.
    return undefined;
  }
}
