// An OpenTelemetry SDK in memory, like that of an application, and the numbers that it exports.
import {
  AggregationTemporality,
  DataPointType,
  InMemoryMetricExporter,
  MeterProvider,
  type MetricData,
  PeriodicExportingMetricReader,
} from "@opentelemetry/sdk-metrics";

/** Numbers that are not zero, by the name of the metric and the values of its attributes: `{ "exec.process.io stdout": 3 }`. */
export type Numbers = Readonly<Record<string, number>>;

/** Collects on request of a spec. */
export class Metrics {
  readonly #exporter = new InMemoryMetricExporter(AggregationTemporality.CUMULATIVE);
  readonly #reader = new PeriodicExportingMetricReader({ exporter: this.#exporter, exportIntervalMillis: 2 ** 31 - 1 });
  readonly provider = new MeterProvider({ readers: [this.#reader] });
  readonly meter = this.provider.getMeter("spec");

  /** A complete export, as the SDK makes it. */
  async export(): Promise<readonly MetricData[]> {
    this.#exporter.reset();
    await this.#reader.forceFlush();
    return this.#exporter.getMetrics().flatMap(({ scopeMetrics }) => scopeMetrics.flatMap(({ metrics }) => metrics));
  }

  /** The counts so far; of a histogram, the number of values. */
  async numbers(): Promise<Numbers> {
    const found: Record<string, number> = {};
    for (const { descriptor, dataPointType, dataPoints } of await this.export()) {
      for (const { attributes, value } of dataPoints) {
        const number = dataPointType === DataPointType.SUM ? (value as number) : (value as { count: number }).count;
        if (number !== 0) found[[descriptor.name, ...Object.values(attributes)].join(" ")] = number;
      }
    }
    return found;
  }

  close(): Promise<void> {
    return this.provider.shutdown();
  }
}
