// The Codex exec-server's protocol as a dialect of a server: the real Codex CLI works against it unmodified.
import type { Dialect } from "../../server/dialect.ts";
import { CodexConnection } from "./connection.ts";
import { environmentInfo } from "./environment-info.ts";
import { FramePool } from "./frame-pool.ts";
import { plainAnswer, upgradeRefusal } from "./http/http-surface.ts";

/** The exec-server's limit on one message. */
const MESSAGE_BYTES = 64 * 1024 * 1024;

/**
 * Pass it to `serve` as `dialect`. A client with the token gets what the exec-server gives: processes, the files of this host
 * with the rights of this program, and HTTP requests sent from here.
 */
export async function codexDialect(): Promise<Dialect> {
  const host = { info: await environmentInfo(), frames: new FramePool(), messageBytes: MESSAGE_BYTES };
  return {
    messageBytes: MESSAGE_BYTES,
    answer: plainAnswer,
    refuse: upgradeRefusal,
    accept: (transport, context) => new CodexConnection(context, transport, host),
  };
}
