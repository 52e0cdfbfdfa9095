// `process/*`: a thin translation to the calls of a backend. Calls on one process keep their order; calls on different
// processes do not wait for each other.
import { createHash, randomUUID } from "node:crypto";
import type { Limits } from "../../../protocol/index.ts";
import type { Clock } from "../../clock.ts";
import { ExecwireError } from "../../errors.ts";
import { waitForNews } from "../../log/read.ts";
import { terminateTree } from "../../process/end-tree.ts";
import type { ServerContext } from "../../server/server-context.ts";
import { CODE, CodexError, wrongParams } from "../codex-error.ts";
import { base64, oneOf, optional, string, struct, u64 } from "../decode.ts";
import { CodexSubscription } from "./codex-subscription.ts";
import { type MethodScope, type MethodTable, method, ReplyThen } from "./method.ts";
import { readReply } from "./read-reply.ts";
import type { ClientEntry, CodexSession, StartedProcess } from "./session.ts";
import { type CodexStart, startOf, startParams } from "./start-params.ts";

/** How long a request waits for a start that was requested before it; usually it takes milliseconds. */
const STARTING_WAIT_MS = 5000;

/** Begins a write id that is a digest. */
const DIGEST = "sha256:";

/** What the methods use of their connection. */
export interface ProcessScope extends MethodScope {
  readonly context: ServerContext;
  /** The session; available once the handshake is over. */
  readonly session: CodexSession;
  /** Runs a call that is aborted when the connection ends. */
  whileConnected<T>(call: (signal: AbortSignal) => Promise<T>): Promise<T>;
  /** Resolves when all file operations requested so far are over: a start may depend on them. */
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

/** The process methods of one connection; `shell` is the login shell of this host. */
export function processMethods(scope: ProcessScope, shell: string): MethodTable {
  const { context } = scope;
  const find = async (id: string) => {
    const entry = scope.session.state.byId.get(id);
    return entry && settledSoon(entry, context.clock);
  };
  return {
    "process/start": method("exec", startParams, async (params) => {
      const asked = startOf(params, shell, context.limits);
      const { subscription, shared } = await start(scope, params.processId, asked);
      // Not necessarily the connection that asked: the client may have reconnected meanwhile.
      const { session } = scope;
      const begin = () => {
        if (session.connection) subscription.attach(session.connection, { resumed: false });
      };
      return new ReplyThen({ processId: params.processId, sandboxType: shared.process.info.sandbox }, begin);
    }),
    "process/read": method("exec", readParams, async ({ processId: id, afterSeq = 0, maxBytes, waitMs = 0 }) => {
      const found = await find(id);
      if (!found) throw new CodexError(CODE.refused, `unknown process id ${id}`);
      if (found === "starting") throw new CodexError(CODE.refused, `process id ${id} is starting`);
      const { subscription } = found;
      // Reading from `afterSeq` acknowledges everything up to it.
      subscription.received(afterSeq);
      const wait = Math.min(waitMs, context.limits.readWaitMs);
      await scope.whileConnected((signal) =>
        waitForNews(subscription.log, { afterSeq, waitMs: wait, signal }, context.clock),
      );
      // A large reply must be sent before the next one is made.
      await scope.drained();
      const { result, readSeq } = readReply(subscription.log, afterSeq, maxBytes, context.limits.unreadBytes);
      return new ReplyThen(result, () => subscription.wasRead(readSeq));
    }),
    "process/write": method("exec", writeParams, async ({ processId: id, chunk, writeId }) => {
      if (writeId === "") throw wrongParams("writeId must not be empty");
      const found = await find(id);
      if (!found) return { status: "unknownProcess" };
      if (found === "starting") return { status: "starting" };
      return { status: await found.shared.process.write(chunk, { writeId: hostWriteId(writeId, context.limits) }) };
    }),
    "process/signal": method("exec", signalParams, async ({ processId: id }) => {
      const found = await find(id);
      if (found && found !== "starting") await found.shared.process.signal("SIGINT", { scope: "group" });
      return {};
    }),
    // A start that is not over is cancelled, without waiting for it. Kills the whole tree at once, including descendants that left
    // the group. What an exited process left behind keeps running, as with the exec-server; it ends with the session.
    "process/terminate": method("exec", processId, async ({ processId: id }) => {
      const entry = scope.session.state.byId.get(id);
      if (entry?.cancel) {
        entry.cancel();
        return { running: true };
      }
      const found = await entry?.started;
      if (found) refuseNetwork(scope.session, found);
      if (!found || found.subscription.log.exited) return { running: false };
      return terminateTree(found.shared.process, 0);
    }),
  };
}

/** From now on, nothing is permitted to the process that its client would have to decide. */
function refuseNetwork(session: CodexSession, { shared: { process } }: StartedProcess): void {
  const name = session.state.networks.get(process.incarnation);
  if (name) name.isOver = true;
  session.connection?.network.refuse(process.incarnation);
}

async function start(scope: ProcessScope, id: string, { spec, network }: CodexStart): Promise<StartedProcess> {
  const { session, context } = scope;
  const { byId } = session.state;
  if (byId.has(id)) throw new CodexError(CODE.refused, `process ${id} already exists`);
  if (spec.argv[0] === "") {
    throw new CodexError(CODE.failed, "missing program: argv[0] is empty", { kind: "spawnFailed" });
  }
  const incarnation = randomUUID();
  const { networks } = session.state;
  if (network) networks.set(incarnation, { id, isOver: false });
  const cancellation = new AbortController();
  const { signal } = cancellation;
  const spawned = (async () => {
    await scope.filesSettled();
    signal.throwIfAborted();
    return session.start(context.processes, spec, incarnation, network, signal);
  })();
  const starting = spawned.then((shared) => {
    const subscription = new CodexSubscription(id, shared.log, context.limits.unreadBytes);
    const started = { id, shared, subscription };
    session.state.add(started);
    entry.cancel = undefined;
    return started;
  });
  const free = () => {
    if (byId.get(id) === entry) byId.delete(id);
  };
  const entry: ClientEntry = {
    started: starting.catch(() => undefined),
    cancel: () => {
      free();
      cancellation.abort(cancelled(id));
      // A start that hangs stays listed otherwise.
      context.processes
        .find(incarnation)
        .then(({ process }) => terminateTree(process, 0))
        .catch(() => undefined);
    },
  };
  // Registered in the turn of the request, so that later requests find it; removed at once when the start fails.
  byId.set(id, entry);
  try {
    return await starting;
  } catch (error) {
    free();
    networks.delete(incarnation);
    entry.cancel = undefined;
    throw error instanceof ExecwireError && error.code === "START_CANCELLED" ? cancelled(id) : error;
  }
}

/** The id is the client's: on this host the process has another one. */
function cancelled(id: string): CodexError {
  return new CodexError(CODE.refused, `process ${id} start was cancelled`);
}

/**
 * The outcome of a start, for a request that follows it: requests are sent without waiting for the reply. If the start hangs, it
 * is `starting`.
 */
function settledSoon({ started, cancel }: ClientEntry, clock: Clock): Promise<StartedProcess | "starting" | undefined> {
  if (!cancel) return started;
  return new Promise((resolve) => {
    const stop = clock.after(STARTING_WAIT_MS, () => resolve("starting"));
    void started.then(resolve).finally(stop);
  });
}

/** A write id that the host takes: this protocol has no limit on them. A digest stands for what is too long or no text. */
function hostWriteId(writeId: string, { writeIdChars }: Pick<Limits, "writeIdChars">): string {
  const isPlain = writeId.length <= writeIdChars && !writeId.includes("\0") && !writeId.startsWith(DIGEST);
  return isPlain ? writeId : `${DIGEST}${createHash("sha256").update(writeId).digest("base64url")}`;
}
