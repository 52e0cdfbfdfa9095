// The handlers of all methods: a thin translation into calls of `Backend` and `Process`. Parameters were checked before.
import {
  type DeliveryMode,
  type Limits,
  type MethodName,
  type Methods,
  type ProcessAddress,
  type ProcessInfo,
  present,
  type Seq,
} from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import type { Backend } from "../process/backend.ts";
import type { Process } from "../process/process.ts";
import { fitInfo } from "../process/process-info.ts";
import { pageOf, wholeList } from "./process-list.ts";
import type { Session } from "./sessions/session.ts";
import type { SharedProcess } from "./shared-process.ts";
import type { SharedProcesses } from "./shared-processes.ts";

/** What a handler may use. */
export interface MethodContext {
  readonly backend: Backend;
  readonly processes: SharedProcesses;
  readonly session: Session;
  readonly limits: Pick<Limits, "frameBytes" | "listBytes" | "listPageBytes">;
  /** Runs a call that is aborted when the connection of the request ends. */
  whileConnected<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Runs an expensive call in the query queue, once for all requests with the same key. */
  queued<T>(key: string, call: () => Promise<T>): Promise<T>;
  /** Runs a call that walks through /proc: at once, or in the query queue if a viewer requests it. */
  inspect<T>(what: string, process: Process, call: () => Promise<T>): Promise<T>;
  /** Replaces this connection's subscription to the process. It sends nothing before the reply. */
  subscribe(shared: SharedProcess, afterSeq: Seq, delivery: DeliveryMode, acked?: Seq): void;
  unsubscribe(shared: SharedProcess): void;
  watchChanges(): void;
  /** Ends the session and the processes it started. */
  closeSession(graceMs: number | undefined): Promise<void>;
}

type Handler<M extends MethodName> = (
  params: Methods[M]["params"],
  context: MethodContext,
) => Promise<Methods[M]["result"]>;

interface Method<M extends MethodName> {
  /** Whether a viewer may call the method. */
  readonly view: boolean;
  /** The method changes something, so a repeated request gets the first outcome. Other methods simply run again. */
  readonly once: boolean;
  readonly handle: Handler<M>;
}

/** A handler that acts on the process of an address; `unknown` is the result if there is no such process. */
function onProcess<M extends MethodName>(
  act: (process: Process, params: Methods[M]["params"], context: MethodContext) => Promise<Methods[M]["result"]>,
  unknown?: Methods[M]["result"],
): Handler<M> {
  return async (params, context) => {
    let process: Process;
    try {
      ({ process } = await context.processes.at(params as unknown as ProcessAddress));
    } catch (error) {
      if (unknown !== undefined && error instanceof ExecwireError && error.code === "PROCESS_UNKNOWN") return unknown;
      throw error;
    }
    return act(process, params, context);
  };
}

const query = { view: true, once: false };
const change = { view: false, once: true };

/** The methods of this server. */
export const methods: { readonly [M in MethodName]: Method<M> } = {
  "process/start": {
    ...change,
    async handle({ spec, incarnation, subscribe: delivery, network }, { processes, session, subscribe, limits }) {
      if (spec.inheritFds?.length) {
        throw new ExecwireError("UNSUPPORTED", "descriptors cannot be inherited from another machine", {
          data: { what: "inheritFds" },
        });
      }
      const shared = await session.start(processes, spec, incarnation, network);
      const process = infoOf(shared, limits);
      if (!delivery) return { process };
      subscribe(shared, 0, delivery);
      return { process, channel: shared.channel };
    },
  },
  "process/attach": {
    ...query,
    async handle({ processId }, { processes, limits }) {
      return { process: infoOf(await processes.find(processId), limits) };
    },
  },
  "process/list": {
    ...query,
    handle({ limit, after }, { backend, session, queued, limits }) {
      const { frameBytes, listBytes, listPageBytes } = limits;
      const pageBytes = Math.min(listPageBytes, frameBytes);
      const wholeBytes = session.role === "view" ? pageBytes : Math.min(listBytes, frameBytes);
      // As JSON: a client may send `after: "undefined"`, whose list must not be that of a client that sends none.
      return queued(`list ${JSON.stringify([limit, after])}`, async () => {
        const processes = await backend.list();
        return limit === undefined ? wholeList(processes, wholeBytes) : pageOf(processes, { limit, after }, pageBytes);
      });
    },
  },
  "process/subscribe": {
    ...query,
    async handle(params, { processes, session, subscribe }) {
      if (params.delivery === "lossless" && session.role === "view") {
        throw new ExecwireError("FORBIDDEN", "a viewer may not pause a process; subscribe with delivery gap");
      }
      const shared = await processes.at(params);
      subscribe(shared, params.afterSeq, params.delivery, params.acked);
      return { channel: shared.channel };
    },
  },
  "process/unsubscribe": {
    ...query,
    async handle(params, { processes, unsubscribe }) {
      unsubscribe(await processes.at(params));
      return {};
    },
  },
  "process/read": {
    ...query,
    async handle({ processId, incarnation, afterSeq, maxBytes, waitMs }, { processes, whileConnected }) {
      const { process } = await processes.at({ processId, incarnation });
      return whileConnected((signal) => process.read(present({ afterSeq, maxBytes, waitMs, signal })));
    },
  },
  "process/write": {
    ...change,
    handle: onProcess(
      async (process, { chunk, writeId }) => ({ status: await process.write(chunk, present({ writeId })) }),
      {
        status: "unknownProcess",
      },
    ),
  },
  "process/closeStdin": {
    ...change,
    handle: onProcess(async (process) => ({ status: await process.closeStdin() }), { status: "unknownProcess" }),
  },
  "process/signal": {
    ...change,
    handle: onProcess(async (process, { signal, scope }) => {
      await process.signal(signal, present({ scope }));
      return {};
    }, {}),
  },
  "process/resize": {
    ...change,
    handle: onProcess(async (process, { size }) => {
      await process.resize(size);
      return {};
    }, {}),
  },
  "process/terminate": {
    ...change,
    handle: onProcess((process, { graceMs, scope }) => process.terminate(present({ graceMs, scope })), {
      running: false,
    }),
  },
  "process/holders": {
    ...query,
    handle: onProcess(async (process, _params, { inspect }) => ({
      holders: await inspect("holders", process, () => process.holders()),
    })),
  },
  "process/activity": {
    ...query,
    handle: onProcess(async (process, _params, { inspect }) => ({
      activity: await inspect("activity", process, () => process.activity()),
    })),
  },
  "changes/watch": {
    ...query,
    async handle(_params, { watchChanges }) {
      watchChanges();
      return {};
    },
  },
  "session/close": {
    view: true,
    once: true,
    async handle({ graceMs }, { closeSession }) {
      await closeSession(graceMs);
      return {};
    },
  },
};

/** Bytes of a reply around the process info. */
const ENVELOPE_BYTES = 256;

/** The info of a process, shortened to fit into a reply: once the process runs, its start must not fail for a large reply. */
function infoOf(shared: SharedProcess, { frameBytes }: MethodContext["limits"]): ProcessInfo {
  return fitInfo(shared.process.info, frameBytes - ENVELOPE_BYTES);
}
