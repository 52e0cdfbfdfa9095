// Connects to a Codex exec-server, or to an execwire server with the Codex dialect.
import type { Meter } from "@opentelemetry/api";
import type { Limits } from "../../../protocol/index.ts";
import type { Clock } from "../../clock.ts";
import { refuse } from "../../errors.ts";
import { withDefaults } from "../../limits.ts";
import type { ReportError } from "../../log/guarded-observable.ts";
import { clientMetrics, followLink } from "../../telemetry/client-metrics.ts";
import { openTextSocket } from "../../transport/websocket/websocket-client.ts";
import { CodexBackend } from "./codex-backend.ts";

/** Options of a client of a Codex exec-server. */
export interface CodexClientOptions {
  /** Sent as `Authorization: Bearer`. */
  readonly token?: string;
  readonly limits?: Partial<Limits>;
  /** Called with errors thrown by subscribers. Default: the console. */
  readonly onError?: ReportError;
  /** Where metrics are recorded. Default: the OpenTelemetry SDK that is registered now, if there is one. */
  readonly meter?: Meter;
  readonly clock?: Clock;
}

/** The exec-server does not limit what it sends; the reply to a read may have a hundred megabytes. */
const MESSAGE_BYTES = 768 * 1024 * 1024;

/**
 * Connects to `ws://`, `wss://` or `unix:PATH` and resolves with a backend like the local one. Rejects with UNAUTHORIZED,
 * INVALID_PARAMS (unknown kind of address), or CONNECTION_LOST when no server can be reached. A link that is lost later
 * reconnects for up to `limits.recoveryMs`. What the dialect does not support is refused with UNSUPPORTED; `data.what` names
 * it.
 */
export async function connectCodex(url: string, options: CodexClientOptions = {}): Promise<CodexBackend> {
  if (!/^(wss?:\/\/|unix:)./.test(url)) {
    refuse({ field: "url", message: `must begin with ws://, wss:// or unix:, got ${url}` });
  }
  const { token, limits: overrides, meter, ...others } = options;
  const allLimits = withDefaults(overrides);
  const open = openTextSocket(url, token, { frameBytes: MESSAGE_BYTES, handshakeMs: allLimits.handshakeMs });
  const backend = new CodexBackend({ ...others, open, limits: allLimits });
  await backend.ready();
  followLink(clientMetrics(meter), backend.link.state$);
  return backend;
}
