// The limits of supervisors, servers and clients, each with its unit in the name and its reason beside it. Options of these three
// override them, and spec/limits proves that each one has an effect; spec/protocol/limits.spec.ts asserts relations between them.
//
// Other numbers stay in the files that use them: facts of the kernel or of another protocol (system calls, what the Codex client
// accepts), steps of one mechanism that change no result (slices, polling timers), and the defaults of runs and of agents'
// sessions (exec/run/run-options.ts, exec/sessions/session-limits.ts), which belong to a call and not to a host.
import { checkInteger, ifPresent, type Problem } from "./check-value.ts";

/** PATH_MAX of Linux without the NUL: the kernel refuses longer paths. */
export const PATH_MAX_BYTES = 4095;

/** Longest delay of a Node timer, 24 days: a longer one fires at once. */
export const MAX_TIMER_MS = 2 ** 31 - 1;

/** Default limits. */
export const limits = {
  /** Output bytes a process keeps for late readers; the oldest are evicted first. As many as the Codex exec-server keeps. */
  retainedBytes: 1024 * 1024,
  /**
   * Events a process keeps. Bounds the overhead of tiny chunks. A chunk of a JSON read reply has up to five values, and the Codex
   * client accepts 262,144 values in a message: 50,000 chunks fit.
   */
  retainedEvents: 50_000,
  /** Most bytes of an output event; larger reads are split. Equal to a pipe's default capacity, so a read is rarely split. */
  chunkBytes: 64 * 1024,
  /** Memory of an event without its payload (object, view, slot: measured about 300), charged to the memory budget. */
  eventOverheadBytes: 320,
  /** Output of all processes of a supervisor, payload and overhead. Above it a log evicts as much as it adds. */
  memoryBudgetBytes: 512 * 1024 * 1024,
  /** Later chunks of a burst wait this long to be merged; the first never waits. One timer tick: no person notices it. */
  mergeWindowMs: 1,
  /** The same while the log has no follower. At most ten events a second: a later reader gets few and large ones. */
  unfollowedMergeWindowMs: 100,
  /** Chunks of at least this size never wait to be merged: merging gains nothing. */
  mergeBelowBytes: 16 * 1024,
  /** Bytes of stdin accepted and not yet written to the child. A larger single write is accepted when the queue is empty. */
  stdinQueueBytes: 1024 * 1024,
  /**
   * Bytes of writes that wait for room in the queue; above it a write is refused, since callers may never await. A client applies
   * it, with the queue, to its writes without an answer.
   */
  stdinParkedBytes: 16 * 1024 * 1024,
  /** Write ids remembered per process, so that a repeated write is acknowledged and not written twice. */
  writeIds: 4096,
  /** Characters of a write id: a uuid with room for a prefix. Checked by the host of the process, not by its remote clients. */
  writeIdChars: 256,
  /** Processes that are not closed; each needs 3 descriptors of the supervisor, together below the usual limit of 4,096. */
  liveProcesses: 1024,
  /** A closed process stays readable this long, as in the Codex exec-server. */
  closedRetentionMs: 80_000,
  /** Closed processes kept at once; above it the oldest are removed early. */
  closedProcesses: 4096,
  /** Output of all closed processes; above it the largest logs without a lossless reader lose their output, not their exit. */
  closedBytes: 64 * 1024 * 1024,
  /**
   * Output that a Codex client has not read; above it the log drops the oldest and does not make the process wait. 54 MiB as
   * base64, and the client accepts messages of 64 MiB.
   */
  unreadBytes: 40 * 1024 * 1024,
  /** From SIGTERM to SIGKILL: enough for most programs to shut down cleanly. */
  graceMs: 5_000,
  /**
   * How long `close()` waits for streams that an unrelated process keeps open, when no process is left to kill. A client that
   * closes waits for the server's reply at most twice as long as the grace and this together.
   */
  closeDeadlineMs: 2_000,
  /** A lossless reader that makes a child wait and reads nothing for this long is considered dead; it gets a gap. */
  pauseLeaseMs: 300_000,
  /** A process waits this long for its starter to begin to read, if its log is full by then. A starter that comes later gets a gap. */
  unreadMs: 30_000,
  /** Longest `waitMs` of a read: a day, less than MAX_TIMER_MS. Checked by the host of the process, not by its remote clients. */
  readWaitMs: 86_400_000,
  /**
   * Bytes of a process's arguments in its info, in UTF-8; the omitted ones are counted. Enough for typed commands, and the infos
   * of all processes of a supervisor fit into one frame.
   */
  infoArgvBytes: 2048,
  /** Labels of a process: every list and change contains them all. */
  labels: 64,
  /** Names and values of a process's labels together, in UTF-8. */
  labelBytes: 8192,
  /** The working directory of a process, in UTF-8. */
  pathBytes: PATH_MAX_BYTES,
  /** Memory of a process without its output and the strings of its info (measured: 4,500), charged to the memory budget. */
  processOverheadBytes: 4096,
  /** Infos of all closed processes; above it the oldest are removed. Enough for `closedProcesses` infos of the usual size. */
  closedInfoBytes: 48 * 1024 * 1024,
  /** Patterns in each list of an environment policy. Like the next limit checked by the host, not by its remote clients. */
  envPatterns: 1024,
  /** Characters of such a pattern: matching takes time proportional to its length times that of all variable names. */
  envPatternChars: 256,
  /** Rules in a sandbox policy; each is looked up and mounted. Checked by the host, not by its remote clients. */
  sandboxRules: 256,
  /** Host patterns of a managed network, `allow` and `deny` together: each request is compared with all. Checked likewise. */
  networkHosts: 1024,
  /** Connections of a process to its proxy, each of which may need another descriptor; further ones are closed at once. */
  networkConnections: 256,
  /** Connections of a process about which its controller has not decided yet; further ones are refused. */
  networkDecisions: 64,
  /** How long a controller may take to decide about a connection, unless the policy says otherwise: time for a person. */
  networkDecisionMs: 30_000,
  /** How long the start-up files of a user's shell may take, for a snapshot; then the plain shell is run. */
  snapshotMs: 10_000,
  /** Bytes of the functions, aliases and variables of one snapshot. Some set up a megabyte of completions. */
  snapshotBytes: 4 * 1024 * 1024,
  /** Snapshots that are kept; above it the oldest is made again when it is needed. */
  snapshots: 64,
  /** A list for an older client without pages; infos omit more arguments where it would be larger. */
  listBytes: 4 * 1024 * 1024,
  /** Processes that a client accepts in one list: many times what a server keeps. An endless list would fill its memory. */
  listedProcesses: 100_000,
  /** A page of a list: encoding a larger one would delay all other connections for milliseconds. */
  listPageBytes: 512 * 1024,
  /** Characters of a process id: enough for the Codex client's. Checked by the host, not by its remote clients. */
  processIdChars: 8192,
  /** A frame on a connection; a larger one closes it with 1009. Far above a read reply with a whole log (1 MiB). */
  frameBytes: 16 * 1024 * 1024,
  /**
   * What a peer may send before it is authenticated: a hello with a token, a session and some thousand pending requests. Counts
   * the overhead of fragments too, and a frame counts with its announced length.
   */
  helloBytes: 64 * 1024,
  /** A frame of a viewer, which sends only small requests that acknowledge some thousand replies at most. */
  viewFrameBytes: 64 * 1024,
  /** Nesting of a message, checked by each receiver with its own limit: the deepest valid message has 7 levels. */
  messageDepth: 16,
  /** Values of a message, keys included, checked likewise: a read reply of 50,000 chunks has 450,000. */
  messageValues: 524_288,
  /** From the opened connection to its hello: a port scanner occupies nothing for longer. */
  handshakeMs: 5_000,
  /** A silent connection is pinged this often, and considered dead after two pings in a row without a reply. */
  pingMs: 20_000,
  /** A session outlives its connection this long, as in the Codex exec-server. Must exceed `recoveryMs`. */
  sessionTtlMs: 80_000,
  /** A client tries to reconnect for this long before it gives up. */
  recoveryMs: 45_000,
  /** First pause between two reconnect attempts; doubled each time, with jitter. */
  backoffFirstMs: 50,
  /** Longest pause between two reconnect attempts: a restarted server is found within this time. */
  backoffLastMs: 5_000,
  /** Bytes passed to a socket and not yet accepted by the kernel, above which the subscriptions of this connection wait. */
  outboxBytes: 1024 * 1024,
  /** The same with replies: above it the peer reads nothing at all and the connection is closed. */
  outboxMaxBytes: 64 * 1024 * 1024,
  /** Replies to a peer that the kernel has not accepted; above it the server reads no more requests of this peer. */
  outboxReplyBytes: 1024 * 1024,
  /** Memory of a queued frame without its bytes (two writes, their callbacks, a header: measured 500 of heap, 1,000 of RSS). */
  frameOverheadBytes: 1024,
  /**
   * Outboxes and running requests of all controlling connections: twice as much as 128 full outboxes. More connections have smaller
   * shares.
   */
  connectionsBytes: 256 * 1024 * 1024,
  /**
   * The same for all viewers: they cannot use up the memory of the others, nor make the server grow by more than 64 MiB. The memory
   * of the server grows by two to three times this number (measured), because V8 frees sent frames late. It leaves room for a full
   * chunk to each viewer.
   */
  viewConnectionsBytes: 12 * 1024 * 1024,
  /** The same for clients of a dialect. For Codex clients: room for one reply of hundreds of MiB beside the other clients. */
  dialectConnectionsBytes: 1024 * 1024 * 1024,
  /** A peer that accepts no byte of its outbox for this long is dropped. Any byte counts, so a slow line is not dropped. */
  stallMs: 30_000,
  /** When the outboxes of one kind are full together for this long, the connections above their share are dropped. */
  crowdedMs: 2_000,
  /** Time for the frames of all controlling peers in one turn of the event loop; the remaining frames wait for the next turn. */
  turnMs: 8,
  /** The same for peers before their hello, and for viewers, which then rest three times as long. */
  viewTurnMs: 4,
  /** Unacknowledged output sent to a lossless subscriber. Half of what a replica retains, so it evicts no unread events. */
  windowBytes: 512 * 1024,
  /** Requests of a session that are running or whose replies are not acknowledged. */
  requests: 4096,
  /** Running requests of a viewer: a waiting read for each process, with room to spare. */
  viewRequests: 1024,
  /** Memory of a running request without its frame (promises, a timer, listeners: measured 4,000 for a read that waits). */
  requestOverheadBytes: 4096,
  /** Unacknowledged replies that a session keeps; above it new requests of the client are refused. */
  sessionRepliesBytes: 16 * 1024 * 1024,
  /** The same for all sessions: eight clients that never acknowledge. */
  repliesBytes: 128 * 1024 * 1024,
  /** Controlling connections of a server. */
  connections: 10_000,
  /** Connections of viewers. Not counted as `connections`, so that they never use up those; each may buffer a frame. */
  viewConnections: 96,
  /**
   * Connections that are not authenticated yet: with full buffers they cost 32 MiB. Above it the oldest of them is closed. Never
   * more than an eighth of the descriptors that this program may open.
   */
  waitingConnections: 256,
  /** Descriptors kept free for children and files: with fewer, viewers are refused and few peers may wait. At most an eighth. */
  reservedDescriptors: 128,
  /** Controlling sessions, also those without a connection. */
  sessions: 10_000,
  /** Sessions of viewers, also without a connection. More than `viewConnections`, so that a viewer that reconnects finds room. */
  viewSessions: 512,
  /** A viewer's session outlives its connection this long: enough for a short interruption, as it owns nothing worth keeping. */
  viewSessionTtlMs: 10_000,
  /**
   * Characters of all globs of an `envPolicy`, times the characters of all names that they are matched with: some milliseconds.
   * A policy of fifty globs for two hundred variables takes a million.
   */
  envGlobSteps: 16_000_000,
  /** Bytes of an argument or environment entry with its NUL, checked by the host: MAX_ARG_STRLEN of Linux, 32 pages. */
  argBytes: 131_072,
} as const;

/** The frame that every peer must accept. The info of a process is smaller, also with the longest id, labels and directory. */
export const MIN_FRAME_BYTES = 64 * 1024;

/** Least `pingMs` that a server may announce: more pings would keep its client too busy. */
export const MIN_PING_MS = 10;

/** Largest `windowBytes` that a server may announce: a client buffers so much for each reader that does not read. */
export const MAX_WINDOW_BYTES = 64 * 1024 * 1024;

/** Limits as a caller may override them. */
export type Limits = { readonly [K in keyof typeof limits]: number };

/** With 0 ms per turn no frame would ever be handled. */
const NOT_ZERO: readonly string[] = ["turnMs", "viewTurnMs"] satisfies (keyof Limits)[];

/** The first problem of overrides: an unknown name, or a value that is not a whole number (for times: up to MAX_TIMER_MS). */
export function checkLimits(overrides: Partial<Limits>): Problem | undefined {
  for (const [name, value] of Object.entries(overrides)) {
    const field = `limits.${name}`;
    if (!Object.hasOwn(limits, name)) return { field, message: "is not a limit" };
    const [min, max] = [NOT_ZERO.includes(name) ? 1 : 0, name.endsWith("Ms") ? MAX_TIMER_MS : Number.MAX_SAFE_INTEGER];
    const problem = ifPresent(value, (given) => checkInteger(field, given, min, max));
    if (problem) return problem;
  }
  return undefined;
}
