// Serves a backend to many connections. It depends only on the interface `Backend`, so a remote backend can be served as well
// (a relay).
import type { Meter } from "@opentelemetry/api";
import {
  checkInteger,
  type Limits,
  MAX_TIMER_MS,
  MAX_WINDOW_BYTES,
  MIN_FRAME_BYTES,
  MIN_PING_MS,
  SUBPROTOCOL,
} from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { ExecwireError, refuse } from "../errors.ts";
import { withDefaults } from "../limits.ts";
import { type ReportError, reportToConsole } from "../log/guarded-observable.ts";
import type { Backend } from "../process/backend.ts";
import { endTree } from "../process/end-tree.ts";
import { serverMetrics } from "../telemetry/server-metrics.ts";
import { Descriptors } from "../transport/admission/descriptors.ts";
import { ReadTurns } from "../transport/admission/read-turns.ts";
import { CLOSE, type Transport } from "../transport/transport.ts";
import { type Listener, listenWebSocket } from "../transport/websocket/websocket-server.ts";
import { type Auth, bearerToken, roleOf } from "./auth.ts";
import { Connection } from "./connection.ts";
import type { Dialect } from "./dialect.ts";
import type { ServedConnection, ServerContext } from "./server-context.ts";
import { ConnectionSlots } from "./sessions/connection-slots.ts";
import type { Session } from "./sessions/session.ts";
import { Sessions } from "./sessions/sessions.ts";
import { SharedProcesses } from "./shared-processes.ts";
import { createSharedResources } from "./shared-resources.ts";

/** Where to listen: a TCP address (port 0: any free one), or the path of a unix socket. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/** Options of `serve`. */
export interface ServeOptions {
  readonly auth: Auth;
  readonly listen?: ListenAddress;
  /** Origins of web pages that may connect. Default: none. */
  readonly allowedOrigins?: readonly string[];
  readonly limits?: Partial<Limits>;
  /** Receives the metrics. Default: the OpenTelemetry SDK registered at the time of the call, if there is one. */
  readonly meter?: Meter;
  readonly clock?: Clock;
  /** The protocol for clients that offer no subprotocol. Default: they are refused. */
  readonly dialect?: Dialect;
  /** Receives failures that belong to no request, such as a process that cannot be ended. Default: the console. */
  readonly onError?: ReportError;
  /** Called for each connection that was refused, or closed because of what its peer did. */
  readonly onRefused?: (code: number, reason: string) => void;
}

/** A running server. */
export interface ExecwireServer {
  /** The URL that a client passes to `connect`; undefined without `listen`. */
  readonly url: string | undefined;
  /** Serves a connection that was opened elsewhere, such as one end of a memory pair, or stdin and stdout. */
  accept(transport: Transport): void;
  /** The same for a client of the dialect. Throws UNSUPPORTED if the server has no dialect. */
  acceptDialect(transport: Transport): void;
  /** Ends all sessions, then closes all connections (1001). The backend keeps running. */
  close(): Promise<void>;
}

/** How often a stopping server looks whether its clients were sent everything. */
const DELIVERY_CHECK_MS = 10;

/** Addresses that only this machine can reach. */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** Serves `backend`. Rejects with INVALID_PARAMS for an unsafe or impossible address. */
export async function serve(backend: Backend, options: ServeOptions): Promise<ExecwireServer> {
  const { listen, auth, dialect, allowedOrigins = [] } = options;
  if (listen && "host" in listen && auth.kind === "none" && !LOOPBACK.test(listen.host)) {
    const message = `without a token only this machine may connect, but other machines can reach ${listen.host}; set a token`;
    throw new ExecwireError("INVALID_PARAMS", message, { data: { field: "auth" } });
  }
  checkAuth(auth);
  checkAnnounced(options.limits ?? {});
  const server = new Server(backend, options);
  const { frameBytes, helloBytes, handshakeMs, waitingConnections } = server.context.limits;
  const { descriptors } = server;
  const listener =
    listen &&
    (await listenWebSocket({
      address: listen,
      native: {
        subprotocol: SUBPROTOCOL,
        kind: "binary",
        frameBytes,
        onTransport: (transport, { headers }) => {
          const token = bearerToken(headers.authorization);
          // Authenticated before its hello: unauthenticated sockets cannot displace it, and its frames precede those of viewers.
          if (roleOf(auth, token) === "control" && auth.kind === "token") {
            transport.admit?.();
            transport.rank?.("first");
          }
          server.accept(transport, token);
        },
      },
      plain: dialect && {
        kind: "text",
        frameBytes: dialect.messageBytes,
        answer: dialect.answer,
        refuse: (request) => dialect.refuse(request, auth),
        onTransport: (transport) => server.acceptDialect(transport),
      },
      helloBytes,
      waiting: { max: descriptors.atMostAnEighth(waitingConnections), handshakeMs, descriptors },
      allowedOrigins,
      onRefused: options.onRefused ?? (() => undefined),
      turns: new ReadTurns(server.context.limits),
    }));
  server.listener = listener;
  return server;
}

/** Checks the limits that a server announces: a client disconnects if they are out of range. */
function checkAnnounced({ frameBytes, pingMs, windowBytes }: Partial<Limits>): void {
  const check = (name: string, value: number | undefined, min: number, max: number) =>
    value === undefined ? undefined : checkInteger(`limits.${name}`, value, min, max);
  refuse(
    check("frameBytes", frameBytes, MIN_FRAME_BYTES, Number.MAX_SAFE_INTEGER) ??
      check("pingMs", pingMs, MIN_PING_MS, MAX_TIMER_MS) ??
      check("windowBytes", windowBytes, 1, MAX_WINDOW_BYTES),
  );
}

function checkAuth(auth: Auth): void {
  if (auth.kind === "none") return;
  if (auth.token === "" || auth.viewToken === "") refuse({ field: "auth", message: "a token must not be empty" });
  if (auth.token === auth.viewToken) refuse({ field: "auth", message: "the view token must differ from the token" });
}

class Server implements ExecwireServer {
  readonly #context: ServerContext;
  readonly #descriptors: Descriptors;
  #listener: Listener | undefined;
  readonly #connections = new Set<ServedConnection>();
  readonly #dialect: Dialect | undefined;
  readonly #stopWatching: () => void;
  readonly #onError: ReportError;
  readonly #ends = new Set<Promise<void>>();

  constructor(backend: Backend, options: ServeOptions) {
    const clock = options.clock ?? systemClock;
    const merged = withDefaults(options.limits);
    const processes = new SharedProcesses(backend);
    this.#onError = options.onError ?? reportToConsole;
    this.#dialect = options.dialect;
    this.#descriptors = new Descriptors(merged.reservedDescriptors);
    this.#context = {
      backend,
      processes,
      sessions: new Sessions(clock, merged, (session) => this.#endOwned(session)),
      slots: new ConnectionSlots(merged, this.#descriptors),
      auth: options.auth,
      limits: merged,
      metrics: serverMetrics(options.meter),
      clock,
      resources: createSharedResources(merged, clock),
      closeSession: async (session, graceMs) => {
        await this.#endOwned(session, graceMs);
        this.#context.sessions.end(session);
      },
      onOver: (connection) => this.#connections.delete(connection),
      onRefused: options.onRefused ?? (() => undefined),
    };
    const changes = backend.changes$.subscribe({
      next: (process) => {
        if (process.state === "removed") processes.forget(process);
        for (const connection of this.#connections) connection.changed?.(process);
      },
      // The connection of a remote backend was lost: each call on it rejects.
      error: () => undefined,
    });
    this.#stopWatching = () => changes.unsubscribe();
  }

  get context(): ServerContext {
    return this.#context;
  }

  get descriptors(): Descriptors {
    return this.#descriptors;
  }

  set listener(listener: Listener | undefined) {
    this.#listener = listener;
  }

  get url(): string | undefined {
    return this.#listener?.url;
  }

  accept(transport: Transport, token?: string): void {
    this.#connections.add(new Connection(this.#context, transport, token));
  }

  acceptDialect(transport: Transport): void {
    if (!this.#dialect) throw new ExecwireError("UNSUPPORTED", "this server has no dialect");
    this.#connections.add(this.#dialect.accept(transport, this.#context));
  }

  async close(): Promise<void> {
    const stopped = this.#listener?.close();
    const release = this.#context.sessions.endAll();
    // Connections stay open until the processes have ended, so that viewers see how they end.
    await Promise.all(this.#ends);
    await this.#delivered();
    release();
    for (const connection of this.#connections) connection.close(CLOSE.goingAway, "the server stops");
    this.#stopWatching();
    await stopped;
  }

  /** Waits until every lossless client was sent what it has not received, for the grace at most. */
  async #delivered(): Promise<void> {
    const { clock, limits } = this.#context;
    let isOver = false;
    const cancel = clock.after(limits.graceMs, () => {
      isOver = true;
    });
    while (!isOver && [...this.#connections].some(({ owesOutput }) => owesOutput))
      await new Promise<void>((resolve) => clock.after(DELIVERY_CHECK_MS, resolve));
    cancel();
  }

  /** Ends the processes that a session started. Never rejects; `close` waits for it. */
  #endOwned(session: Session, graceMs?: number): Promise<void> {
    const end = endOwned(this.#context, session, graceMs).catch(this.#onError);
    this.#ends.add(end);
    return end.finally(() => this.#ends.delete(end));
  }
}

/** Ends the processes that a session started or is starting, with their trees, except those with `onDetach: keep`. */
async function endOwned(
  { backend, clock, limits }: ServerContext,
  session: Session,
  graceMs = session.graceMs ?? limits.graceMs,
): Promise<void> {
  const starting = [...session.starting].map((processId) => backend.attach(processId).catch(() => undefined));
  const owned = [...session.owned].map(({ process }) => process);
  session.owned.clear();
  const ends = [...owned, ...(await Promise.all(starting))].map((process) => process && endTree(process, graceMs));
  // A lossless reader elsewhere may keep a stream open for as long as that reader exists.
  const deadline = new Promise<void>((resolve) =>
    clock.after(graceMs + limits.closeDeadlineMs, resolve, { background: true }),
  );
  await Promise.race([Promise.all(ends), deadline]);
}
