// `process/*`: a thin translation into the calls of the native dialect. Calls on one process keep their order; none of
// them keeps a call on another one waiting.
import { randomUUID } from "node:crypto";
import type { ProcessSpec } from "../../../protocol/index.ts";
import { waitForNews } from "../../log/read.ts";
import type { ServerParts } from "../../server/parts.ts";
import { startOwned } from "../../server/start-owned.ts";
import { CODE, CodexError, invalidParams } from "../codex-error.ts";
import { base64, oneOf, optional, string, struct, u64 } from "../decode.ts";
import { Feed } from "./feed.ts";
import { Announcement, type MethodScope, type Methods, method } from "./method.ts";
import { readReply } from "./read-reply.ts";
import type { CodexSession, StartedProcess } from "./session.ts";
import { specOf, startParams } from "./start-params.ts";

/** What the methods of a connection work with. */
export interface ProcessScope extends MethodScope {
  readonly parts: ServerParts;
  /** The session; there is one once the handshake is over. */
  readonly session: CodexSession;
  /** The login shell of this host. */
  readonly shell: string;
  /** Makes a call that is aborted when the connection is over. */
  whileConnected<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Resolves when the file operations that were asked for before are over: a start may depend on them. */
  readonly filesSettled: () => Promise<unknown>;
}

const processId = struct("ProcessParams", { processId: string });
const readParams = struct("ReadParams", {
  processId: string,
  afterSeq: optional(u64),
  maxBytes: optional(u64),
  waitMs: optional(u64),
});
const writeParams = struct("WriteParams", { processId: string, chunk: base64, writeId: string });
const signalParams = struct("SignalParams", { processId: string, signal: oneOf("interrupt") });

/** The methods of one connection. */
export function processMethods(scope: ProcessScope): Methods {
  const { parts } = scope;
  const find = async (id: string): Promise<StartedProcess | undefined> => scope.session.processes.get(id)?.started;
  return {
    "process/start": method("exec", startParams, async (params) => {
      const spec = specOf(params, scope.shell, parts.limits);
      const { feed } = await start(scope, params.processId, spec);
      // Not always the connection that asked: the client may have come back meanwhile.
      const { session } = scope;
      const begin = () => {
        if (session.attachment && !feed.isAttached) feed.attach(session.attachment, { resumed: false });
      };
      return new Announcement({ processId: params.processId, sandboxType: "none" }, begin);
    }),
    "process/read": method("exec", readParams, async ({ processId: id, afterSeq = 0, maxBytes, waitMs = 0 }) => {
      const found = await find(id);
      if (!found) throw new CodexError(CODE.refused, `unknown process id ${id}`);
      const { feed } = found;
      // Who reads on from there has what is before.
      feed.received(afterSeq);
      const wait = Math.min(waitMs, parts.limits.readWaitMs);
      await scope.whileConnected((signal) => waitForNews(feed.log, { afterSeq, waitMs: wait, signal }, parts.clock));
      // A large reply must have left before the next one is made.
      await scope.drained();
      const { result, readSeq } = readReply(feed.log, afterSeq, maxBytes, parts.limits.unreadBytes);
      return new Announcement(result, () => feed.wasRead(readSeq));
    }),
    "process/write": method("exec", writeParams, async ({ processId: id, chunk, writeId }) => {
      if (writeId === "") throw invalidParams("writeId must not be empty");
      const found = await find(id);
      return { status: found ? await found.channel.process.write(chunk, { writeId }) : "unknownProcess" };
    }),
    "process/signal": method("exec", signalParams, async ({ processId: id }) => {
      await (await find(id))?.channel.process.signal("SIGINT", { scope: "group" });
      return {};
    }),
    // At once and everybody, also who left the group. What an exit left behind goes on, as with the exec-server; it ends
    // with the session.
    "process/terminate": method("exec", processId, async ({ processId: id }) => {
      const found = await find(id);
      if (!found || found.feed.log.exited) return { running: false };
      return found.channel.process.terminate({ graceMs: 0, scope: "tree" });
    }),
  };
}

async function start(scope: ProcessScope, id: string, spec: ProcessSpec): Promise<StartedProcess> {
  const { session, parts } = scope;
  if (session.processes.has(id)) throw new CodexError(CODE.refused, `process ${id} already exists`);
  const starting = (async () => {
    await scope.filesSettled();
    const channel = await startOwned(parts.channels, session, spec, randomUUID());
    const feed = new Feed(id, channel.process.log, parts.limits.unreadBytes);
    const started = { id, channel, feed };
    channel.holders.add(session);
    session.started.set(channel, started);
    return started;
  })();
  // Named in the turn of the request, so that what follows finds it; free again at once when it fails.
  const process = { started: starting.catch(() => undefined) };
  session.processes.set(id, process);
  try {
    return await starting;
  } catch (error) {
    session.processes.delete(id);
    throw error;
  }
}
