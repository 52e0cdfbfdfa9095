// The Codex exec-server's protocol as a dialect of a server: the real Codex CLI works against it unmodified.
import type { SandboxPolicy } from "../../../protocol/index.ts";
import type { Dialect } from "../../server/dialect.ts";
import { CodexConnection } from "./connection.ts";
import { environmentInfo } from "./environment-info.ts";
import { FramePool } from "./frame-pool.ts";

import { plainAnswer, upgradeRefusal } from "./http/http-surface.ts";

/** The exec-server's limit on one message. */
const MESSAGE_BYTES = 64 * 1024 * 1024;

/** Options of the dialect. */
export interface CodexDialectOptions {
  /**
   * The sandbox of the supervisor, if it has one: files are then accessed inside it, for which it must contain `fileHelperRules`,
   * and without a network nothing is requested by HTTP.
   */
  readonly sandbox?: SandboxPolicy | undefined;
}

/**
 * Pass it to `serve` as `dialect`. A client with the token gets what the exec-server gives: processes, the files of this host
 * with the rights of this program, and HTTP requests sent from here.
 */
export async function codexDialect({ sandbox }: CodexDialectOptions = {}): Promise<Dialect> {
  const host = { info: await environmentInfo(), frames: new FramePool(), messageBytes: MESSAGE_BYTES, sandbox };
  return {
    messageBytes: MESSAGE_BYTES,
    answer: plainAnswer,
    refuse: upgradeRefusal,
    accept: (transport, context) => new CodexConnection(context, transport, host),
  };
}

export { fileHelperRules } from "./files/helper-process.ts";
