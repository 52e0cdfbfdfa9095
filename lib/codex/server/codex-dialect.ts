// The Codex exec-server's protocol as a dialect of a server: the real Codex CLI works against it unmodified.
import type { Dialect } from "../../server/dialect.ts";
import { CodexConnection } from "./connection.ts";
import { environmentInfo } from "./environment-info.ts";
import { FramePool } from "./frame-pool.ts";

/** The exec-server's limit on one message. */
const MESSAGE_BYTES = 64 * 1024 * 1024;

/**
 * Pass it to `serve` as `dialect`. A client with the token gets what the exec-server gives: processes, the files of this host
 * with the rights of this program, and HTTP requests sent from here.
 */
export async function codexDialect(): Promise<Dialect> {
  const info = await environmentInfo();
  const frames = new FramePool();
  return {
    messageBytes: MESSAGE_BYTES,
    accept: (transport, parts) => new CodexConnection(parts, transport, info, frames, MESSAGE_BYTES),
  };
}
