// Spans and log records of processes, as OpenTelemetry SDKs in memory export them, linked to the caller's trace.
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, it } from "@jest/globals";
import { context, propagation, ROOT_CONTEXT, trace } from "@opentelemetry/api";
import { logs } from "@opentelemetry/api-logs";
import { AsyncLocalStorageContextManager } from "@opentelemetry/context-async-hooks";
import { InMemoryLogRecordExporter, LoggerProvider, SimpleLogRecordProcessor } from "@opentelemetry/sdk-logs";
import { BasicTracerProvider, InMemorySpanExporter, SimpleSpanProcessor } from "@opentelemetry/sdk-trace-base";
import type { ProcessSpec } from "../../../protocol/index.ts";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { refusal } from "../../support/refusal.ts";

const spans = new InMemorySpanExporter();
const records = new InMemoryLogRecordExporter();
const tracers = new BasicTracerProvider({ spanProcessors: [new SimpleSpanProcessor(spans)] });
const loggers = new LoggerProvider({ processors: [new SimpleLogRecordProcessor({ exporter: records })] });
const CALLER = { traceId: "0af7651916cd43dd8448eb211c80319c", spanId: "b7ad6b7169203331", traceFlags: 1 };

const register = () => {
  trace.setGlobalTracerProvider(tracers);
  logs.setGlobalLoggerProvider(loggers);
  context.setGlobalContextManager(new AsyncLocalStorageContextManager().enable());
};
const unregister = () => {
  for (const api of [trace, context, propagation, logs]) api.disable();
};

let host: FakeHost;
beforeEach(() => {
  spans.reset();
  records.reset();
});
afterEach(() => host.close());
afterAll(unregister);

const inTrace = <T>(act: () => T): T => context.with(trace.setSpanContext(ROOT_CONTEXT, CALLER), act);
const events = () =>
  records.getFinishedLogRecords().map(({ eventName, attributes, spanContext }) => ({
    event: eventName,
    attributes,
    traceId: spanContext?.traceId,
  }));

describe("with an SDK", () => {
  beforeAll(register);
  beforeEach(() => {
    host = new FakeHost();
  });

  it("a process has a span below the span of its caller, and a record for its start and its exit", async () => {
    const { child } = await inTrace(() => host.start());
    expect(spans.getFinishedSpans()).toEqual([]);
    child.exit(3);
    child.end();
    const [span] = spans.getFinishedSpans();
    expect([span?.name, span?.spanContext().traceId, span?.parentSpanContext?.spanId]).toEqual([
      "exec.process",
      CALLER.traceId,
      CALLER.spanId,
    ]);
    const exit = { "process.exit.code": 3, "exec.termination_requested": false };
    expect(span?.attributes).toEqual({ "exec.sandbox": "none", "exec.result": "error", ...exit });
    const { traceId } = CALLER;
    expect(events()).toEqual([
      { event: "exec.process.start", attributes: { "exec.sandbox": "none" }, traceId },
      { event: "exec.process.exit", attributes: { "exec.sandbox": "none", ...exit }, traceId },
    ]);
  });

  it("a termination is told apart from an exit of its own, and a signal from a code", async () => {
    const { process, child } = await host.start();
    await process.terminate();
    child.exit("SIGTERM");
    expect(events().at(-1)?.attributes).toMatchObject({ "exec.signal": "SIGTERM", "exec.termination_requested": true });
    expect(spans.getFinishedSpans()[0]?.parentSpanContext).toBe(undefined);
  });

  it("a failed start has a record with its code, and no span", async () => {
    await refusal(inTrace(() => host.supervisor.start({ argv: ["no-such-program"] })));
    expect(events()).toEqual([
      {
        event: "exec.process.spawn_failed",
        attributes: { "exec.sandbox": "none", "error.type": "SPAWN_FAILED" },
        traceId: CALLER.traceId,
      },
    ]);
    expect(spans.getFinishedSpans()).toEqual([]);
  });

  it("ids of the caller are attributes only in the permitted form", async () => {
    const startWith = async (labels: NonNullable<ProcessSpec["labels"]>) => {
      records.reset();
      await host.start({ labels });
      return events()[0]?.attributes;
    };
    expect(await startWith({ toolCallId: "call_1:a.b-c", threadId: "t", other: "x" })).toEqual({
      "exec.sandbox": "none",
      "exec.tool_call.id": "call_1:a.b-c",
      "exec.thread.id": "t",
    });
    for (const wrong of ["", "a b", "é", "x".repeat(257)]) {
      expect(await startWith({ toolCallId: wrong })).toEqual({ "exec.sandbox": "none" });
    }
  });
});

describe("without an SDK", () => {
  it("nothing is recorded", async () => {
    unregister();
    host = new FakeHost();
    const { child } = await host.start();
    child.exit(0);
    child.end();
    expect([spans.getFinishedSpans(), records.getFinishedLogRecords()]).toEqual([[], []]);
  });
});
