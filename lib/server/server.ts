// Serves a backend to many connections. It knows the interface `Backend` and nothing of what is behind it, so a remote
// backend can be served as well (a relay).
import { type Limits, limits, SUBPROTOCOL } from "../../protocol/index.ts";
import { type Clock, systemClock } from "../clock.ts";
import { ExecwireError } from "../errors.ts";
import type { Backend } from "../process/backend.ts";
import type { Process } from "../process/process.ts";
import { CLOSE, type Transport } from "../transport/transport.ts";
import { type Listener, listenWebSocket } from "../transport/websocket-server.ts";
import { type Auth, bearerToken } from "./auth.ts";
import { Channels } from "./channels.ts";
import { Connection } from "./connection.ts";
import type { ServerParts } from "./parts.ts";
import type { Session, SessionConnection } from "./session.ts";
import { Sessions } from "./sessions.ts";

/** Where to listen: a TCP address (port 0: any free one), or the path of a unix socket. */
export type ListenAddress = { readonly host: string; readonly port: number } | { readonly path: string };

/** How to serve. */
export interface ServeOptions {
  readonly auth: Auth;
  readonly listen?: ListenAddress;
  /** Origins of web pages that may connect. Default: none. */
  readonly allowedOrigins?: readonly string[];
  readonly limits?: Partial<Limits>;
  readonly clock?: Clock;
}

/** A running server. */
export interface ExecwireServer {
  /** What a client passes to `connect`; undefined without `listen`. */
  readonly url: string | undefined;
  /** Serves a connection that was made elsewhere: an end of a memory pair, stdin and stdout. */
  accept(transport: Transport): void;
  /** Says goodbye to all (1001) and ends their sessions; the backend goes on. */
  close(): Promise<void>;
}

/** Addresses that only this machine can reach. */
const LOOPBACK = /^(127\.\d+\.\d+\.\d+|::1|localhost)$/;

/** Serves `backend`. Rejects with INVALID_PARAMS for an unsafe or impossible address. */
export async function serve(backend: Backend, options: ServeOptions): Promise<ExecwireServer> {
  const { listen, auth, allowedOrigins = [] } = options;
  if (listen && "host" in listen && auth.kind === "none" && !LOOPBACK.test(listen.host)) {
    const message = `without a token only this machine may connect, and ${listen.host} is reachable from others`;
    throw new ExecwireError("INVALID_PARAMS", message, { data: { field: "auth" } });
  }
  const server = new Server(backend, options);
  const { frameBytes } = server.parts.limits;
  const listener =
    listen &&
    (await listenWebSocket({
      address: listen,
      subprotocol: SUBPROTOCOL,
      frameBytes,
      allowedOrigins,
      onTransport: (transport, { authorization }) => server.accept(transport, bearerToken(authorization)),
    }));
  server.listener = listener;
  return server;
}

class Server implements ExecwireServer {
  readonly parts: ServerParts;
  listener: Listener | undefined;
  readonly #connections = new Map<SessionConnection, Connection>();
  readonly #stopWatching: () => void;

  constructor(backend: Backend, options: ServeOptions) {
    const clock = options.clock ?? systemClock;
    const merged: Limits = { ...limits, ...options.limits };
    const channels = new Channels(backend);
    this.parts = {
      backend,
      channels,
      sessions: new Sessions(
        clock,
        merged.sessionTtlMs,
        merged.sessions,
        (session) => void endOwned(this.parts, session),
      ),
      auth: options.auth,
      limits: merged,
      clock,
      closeSession: async (session, graceMs) => {
        await endOwned(this.parts, session, graceMs);
        this.parts.sessions.end(session);
      },
      onOver: (connection) => this.#connections.delete(connection),
    };
    const changes = backend.changes$.subscribe((process) => {
      if (process.state === "removed") channels.forget(process);
      for (const connection of this.#connections.values()) connection.changed(process);
    });
    this.#stopWatching = () => changes.unsubscribe();
  }

  get url(): string | undefined {
    return this.listener?.url;
  }

  accept(transport: Transport, token?: string): void {
    const connection = new Connection(this.parts, transport, token);
    this.#connections.set(connection, connection);
    if (this.#connections.size > this.parts.limits.connections)
      connection.close(CLOSE.tryLater, "too many connections");
  }

  async close(): Promise<void> {
    const stopped = this.listener?.close();
    for (const connection of this.#connections.values()) connection.close(CLOSE.goingAway, "the server stops");
    this.parts.sessions.endAll();
    this.#stopWatching();
    await stopped;
  }
}

/** Ends with their trees the processes that a session started or is starting, but for those that shall be kept. */
async function endOwned(
  { backend, clock, limits }: ServerParts,
  session: Session,
  graceMs = limits.graceMs,
): Promise<void> {
  const starting = [...session.starting].map((processId) => backend.attach(processId).catch(() => undefined));
  const owned = [...session.owned].map(({ process }) => process);
  session.owned.clear();
  const ends = [...owned, ...(await Promise.all(starting))].map((process) => process && endTree(process, graceMs));
  // A lossless reader elsewhere may keep a stream open for as long as it lives.
  const deadline = new Promise<void>((resolve) =>
    clock.after(graceMs + limits.closeDeadlineMs, resolve, { background: true }),
  );
  await Promise.race([Promise.all(ends), deadline]);
}

async function endTree(process: Process, graceMs: number): Promise<void> {
  const over = new Promise<void>((resolve) => process.closed$.subscribe({ complete: resolve, error: () => resolve() }));
  await process.terminate({ scope: "tree", graceMs });
  await over;
}
