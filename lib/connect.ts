// Connects to a server from Node, over any kind of address.
import type { Meter } from "@opentelemetry/api";
import { SUBPROTOCOL } from "../protocol/index.ts";
import { connectOver } from "./client/connect.ts";
import type { ClientOptions, RemoteBackend } from "./client/remote-backend.ts";
import { refuse } from "./errors.ts";
import { withDefaults } from "./limits.ts";
import { clientMetrics, followLink } from "./telemetry/client-metrics.ts";
import { openCommand } from "./transport/command.ts";
import type { OpenTransport } from "./transport/transport.ts";
import { type OpenLimits, openWebSocket } from "./transport/websocket/websocket-client.ts";

/** The address of a server: `ws://HOST:PORT`, `wss://...`, `unix:PATH`, or a program that serves on its stdin and stdout. */
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
  const backend = await connectOver(opener(address, withDefaults(options.limits), options.token), options);
  followLink(clientMetrics(meter), backend.link.state$);
  return backend;
}

function opener(address: ServerAddress, bounds: OpenLimits, token: string | undefined): OpenTransport {
  if (typeof address !== "string") return openCommand(address.command, bounds.frameBytes);
  if (!/^(wss?:\/\/|unix:)./.test(address)) {
    refuse({ field: "url", message: `must begin with ws://, wss:// or unix:, got ${address}` });
  }
  return openWebSocket(address, SUBPROTOCOL, bounds, token);
}
