// Connects to a server from Node, over any kind of address.
import type { Meter } from "@opentelemetry/api";
import { SUBPROTOCOL } from "../protocol/index.ts";
import type { ClientOptions } from "./client/client-options.ts";
import { connectOver } from "./client/connect.ts";
import type { RemoteBackend } from "./client/remote-backend.ts";
import { refuse } from "./errors.ts";
import { withDefaults } from "./limits.ts";
import { clientMetrics, followLink } from "./telemetry/client-metrics.ts";
import { openCommand } from "./transport/command.ts";
import { SSH, sshCommand } from "./transport/ssh.ts";
import type { OpenTransport } from "./transport/transport.ts";
import { type OpenLimits, openWebSocket } from "./transport/websocket/websocket-client.ts";

/**
 * The address of a server: `ws://HOST:PORT`, `wss://...`, `unix:PATH`; `ssh://[USER@]HOST[:PORT]`, your server on that machine, which
 * is started if there is none; or a program that serves on its stdin and stdout, started for each connection.
 */
export type ServerAddress = string | { readonly command: readonly string[] };

/** How to connect from Node. */
export interface ConnectOptions extends ClientOptions {
  /** Receives the metrics. Default: the meter of the OpenTelemetry SDK that is registered now, if there is one. */
  readonly meter?: Meter;
}

/**
 * Connects and resolves with a backend like the local one. Rejects with UNAUTHORIZED, VERSION_UNSUPPORTED,
 * INVALID_PARAMS (unknown kind of address), or CONNECTION_LOST when no server answers or the server is full (`data.reason` is
 * `server-full`). After a later loss the link tries to reconnect for `limits.recoveryMs`.
 */
export async function connect(
  address: ServerAddress,
  { meter, ...options }: ConnectOptions = {},
): Promise<RemoteBackend> {
  const isProgram = typeof address !== "string" || address.startsWith(SSH);
  const limits = withDefaults({ ...(isProgram && { handshakeMs: PROGRAM_HANDSHAKE_MS }), ...options.limits });
  const backend = await connectOver(opener(address, limits, options.token), { ...options, limits });
  followLink(clientMetrics(meter), backend.link.state$);
  return backend;
}

/** ssh may need several round trips, and a user who types a password. */
const PROGRAM_HANDSHAKE_MS = 30_000;

function opener(address: ServerAddress, bounds: OpenLimits, token: string | undefined): OpenTransport {
  if (typeof address !== "string") return openCommand(address.command, bounds.frameBytes);
  if (address.startsWith(SSH)) return openCommand(sshCommand(address), bounds.frameBytes);
  if (!/^(wss?:\/\/|unix:)./.test(address)) {
    refuse({ field: "url", message: `must begin with ws://, wss://, unix: or ssh://, got ${address}` });
  }
  return openWebSocket(address, SUBPROTOCOL, bounds, token);
}
