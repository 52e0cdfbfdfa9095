// Connects to a server from Node: the one place that knows every way to reach one.
import type { Meter } from "@opentelemetry/api";
import { SUBPROTOCOL } from "../protocol/index.ts";
import { connectOver } from "./client/connect.ts";
import type { ClientOptions, RemoteBackend } from "./client/remote-backend.ts";
import { refuse } from "./errors.ts";
import { withDefaults } from "./limits.ts";
import { clientMetrics, followLink } from "./telemetry/client-metrics.ts";
import { openCommand } from "./transport/command.ts";
import type { OpenTransport } from "./transport/transport.ts";
import { type OpenLimits, openWebSocket } from "./transport/websocket-client.ts";

/** Where a server is: `ws://HOST:PORT`, `wss://...`, `unix:PATH`, or a program that serves on its stdin and stdout. */
export type ServerAddress = string | { readonly command: readonly string[] };

/** How to connect from Node. */
export interface ConnectOptions extends ClientOptions {
  /** Where metrics go. Default: the OpenTelemetry SDK that is registered now, if there is one. */
  readonly meter?: Meter;
}

/**
 * Connects and resolves with a backend like the local one. Rejects with UNAUTHORIZED, VERSION_UNSUPPORTED,
 * INVALID_PARAMS (no such kind of address), or CONNECTION_LOST when there is nobody, or nobody more is let in (`data.reason`
 * is `server-full`). Later the link comes back by itself until `limits.recoveryMs` is over.
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
