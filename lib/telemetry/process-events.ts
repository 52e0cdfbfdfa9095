// Reports each process to the OpenTelemetry SDK of the host program, linked to what its caller was doing at the start: a span from
// its start to its exit, and log records for its start, a failed start, a denial by its sandbox and its exit. Without an SDK the
// API is not loaded, and a start costs nothing more.
import { createRequire } from "node:module";
import type { Context, Span, SpanContext } from "@opentelemetry/api";
import type { AnyValueMap, Logger } from "@opentelemetry/api-logs";
import type { Observable } from "rxjs";
import type { ExitedEvent, ProcessInfo, ProcessSpec } from "../../protocol/index.ts";

/** The keys under which the APIs store what is registered: version 1 of `api` and of `api-logs` (their internal/global-utils). */
const REGISTERED = Symbol.for("opentelemetry.js.api.1");
const REGISTERED_LOGS = Symbol.for("io.opentelemetry.js.api.logs");

/** Ids that callers choose are attributes only in this form: nothing else that they send is. */
const ID = /^[A-Za-z0-9_.:-]{1,256}$/;
/** Labels that name what a process belongs to. */
const ID_LABELS = { threadId: "exec.thread.id", toolCallId: "exec.tool_call.id" } as const;

type Api = typeof import("@opentelemetry/api");

/** What is registered now. */
interface Registered {
  readonly api: Api;
  readonly logger: Logger | undefined;
}

/** A process that is reported. */
interface Reported {
  readonly attributes: AnyValueMap;
  readonly context: Context;
  span: Span | undefined;
}

/** The processes of one supervisor. */
export class ProcessEvents {
  readonly #registered: Registered | undefined;
  readonly #processes = new Map<string, Reported>();
  readonly #exitOf: (info: ProcessInfo) => ExitedEvent | undefined;

  /** Reports state changes until `changes$` ends; `exitOf` is called at each exit. */
  constructor(changes$: Observable<ProcessInfo>, exitOf: (info: ProcessInfo) => ExitedEvent | undefined) {
    this.#exitOf = exitOf;
    this.#registered = registered();
    if (this.#registered) changes$.subscribe({ next: (info) => this.#onChange(info), error: () => undefined });
  }

  /** To be called in the turn of the caller: remembers what it is doing. A copy, since its span may end at any time. */
  starting({ incarnation, sandbox }: ProcessInfo, { labels = {} }: ProcessSpec, started: Promise<void>): void {
    if (!this.#registered) return;
    const { trace, context, ROOT_CONTEXT, isSpanContextValid } = this.#registered.api;
    const caller: SpanContext | undefined = trace.getSpanContext(context.active());
    const parent =
      caller && isSpanContextValid(caller) ? trace.setSpanContext(ROOT_CONTEXT, { ...caller }) : ROOT_CONTEXT;
    const ids = Object.entries(ID_LABELS).flatMap(([label, name]) => {
      const value = labels[label];
      return value !== undefined && ID.test(value) ? [[name, value]] : [];
    });
    const attributes = { ...Object.fromEntries(ids), "exec.sandbox": sandbox };
    const reported = { attributes, context: parent, span: undefined };
    this.#processes.set(incarnation, reported);
    started.catch((error: { readonly code?: string }) => {
      this.#processes.delete(incarnation);
      this.#log(reported, "exec.process.spawn_failed", { "error.type": error.code ?? "INTERNAL" });
    });
  }

  #onChange(info: ProcessInfo): void {
    const reported = this.#processes.get(info.incarnation);
    if (!reported || !this.#registered) return;
    if (info.state === "running" && !reported.span) {
      const { trace } = this.#registered.api;
      const { attributes, context } = reported;
      const tracer = trace.getTracer("execwire");
      reported.span = tracer.startSpan("exec.process", { attributes: attributes as Record<string, string> }, context);
      this.#log(reported, "exec.process.start");
    } else if (info.state === "exited" || info.state === "closed" || info.state === "removed") {
      this.#processes.delete(info.incarnation);
      this.#ended(reported, this.#exitOf(info));
    }
  }

  #ended(reported: Reported, exit: ExitedEvent | undefined): void {
    const { span } = reported;
    // A start that failed is reported with its reason.
    if (!span) return;
    if (exit) {
      const { exitCode, signal, result, sandboxDenied } = exit;
      const facts = {
        ...(exitCode !== null && { "process.exit.code": exitCode }),
        ...(signal !== null && { "exec.signal": signal }),
        "exec.termination_requested": result === "terminated",
      };
      if (sandboxDenied) this.#log(reported, "exec.process.sandbox_denied");
      this.#log(reported, "exec.process.exit", facts);
      span.setAttributes({ ...facts, "exec.result": result });
    }
    span.end();
  }

  #log({ attributes, context, span }: Reported, eventName: string, facts: AnyValueMap = {}): void {
    const { api, logger } = this.#registered as Registered;
    const current = span ? api.trace.setSpan(context, span) : context;
    // INFO, by its number: the enum itself would load the API.
    logger?.emit({
      eventName,
      body: eventName,
      severityNumber: 9,
      attributes: { ...attributes, ...facts },
      context: current,
    });
  }
}

/** What the host program has registered; undefined if there is nothing. */
function registered(): Registered | undefined {
  if (!(REGISTERED in globalThis) && !(REGISTERED_LOGS in globalThis)) return undefined;
  const load = createRequire(import.meta.url);
  try {
    const api = load("@opentelemetry/api") as Api;
    const hasLogs = REGISTERED_LOGS in globalThis;
    const logs = hasLogs ? (load("@opentelemetry/api-logs") as typeof import("@opentelemetry/api-logs")) : undefined;
    return { api, logger: logs?.logs.getLogger("execwire") };
  } catch {
    // Bundled into another program, which has its own copy.
    return undefined;
  }
}
