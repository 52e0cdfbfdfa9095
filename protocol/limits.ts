// Every number that bounds something, in one place: unit in the name, reason beside it. All can be overridden where a
// supervisor or server is made; relations between them are asserted in spec/protocol/limits.spec.ts.

/** Default limits. */
export const limits = {
  /** Output bytes a process keeps for late readers (the Codex exec-server's 1 MiB). The oldest goes first. */
  retainedBytes: 1024 * 1024,
  /**
   * Events a process keeps. Bounds the overhead of tiny chunks, and each chunk of a JSON read reply needs four to five
   * values: 50,000 stay below the 262,144 values that the Codex client accepts in one message.
   */
  retainedEvents: 50_000,
  /** One output event at most; larger reads are split. Equal to a pipe's default capacity, so a read is rarely split. */
  chunkBytes: 64 * 1024,
  /** What an event costs beside its payload (object, view, slot: measured about 300), charged to the memory budget. */
  eventOverheadBytes: 320,
  /** Output of all processes of a supervisor together, payload and overhead. Beyond it each log evicts what it adds. */
  memoryBudgetBytes: 512 * 1024 * 1024,
  /** Followers of a chunk wait this long to be merged; the first never waits. One timer tick: below what a person or a prompt notices. */
  mergeWindowMs: 1,
  /** The same while nobody follows the log. Ten events a second at most: what a client finds later is few and large. */
  unfollowedMergeWindowMs: 100,
  /** Reads at least this large are never held back to be merged: there is nothing to gain. */
  mergeBelowBytes: 16 * 1024,
  /** Bytes of stdin accepted and not yet taken by the child. A larger single write enters when the queue is empty. */
  stdinQueueBytes: 1024 * 1024,
  /** Bytes of writes that wait for room in the queue; beyond it a write is refused, or who never waits would fill the memory. */
  stdinParkedBytes: 16 * 1024 * 1024,
  /** Write ids remembered per process, so that a retried write is acknowledged and not written twice. */
  writeIds: 4096,
  /** Characters of a write id: a uuid with room for a prefix. */
  writeIdChars: 256,
  /** Processes alive at once; each costs 3 descriptors here and a process there. Below the usual limit of 4,096 descriptors. */
  liveProcesses: 1024,
  /** A closed process stays readable this long (today's Codex exec-server). */
  closedRetentionMs: 80_000,
  /** Closed processes kept at once; beyond it the oldest are removed early. */
  closedProcesses: 4096,
  /** Output of all closed processes kept; beyond it the largest that nobody holds lose theirs and keep their end. */
  closedBytes: 64 * 1024 * 1024,
  /** What a process printed that its Codex client has not taken, while it runs on without being held back: 54 MiB as base64, and the client takes messages of 64. */
  unreadBytes: 40 * 1024 * 1024,
  /** From SIGTERM to SIGKILL: what most programs need to shut down in order. */
  graceMs: 5_000,
  /** Once nothing is left that can be killed, how long `close()` waits for streams that an unrelated process holds open. */
  closeDeadlineMs: 2_000,
  /** A lossless reader that holds a child back and asks for nothing for this long is taken for gone, and gets a gap. */
  pauseLeaseMs: 300_000,
  /** Longest `waitMs` of a read: a day, within what a timer can do (2^31-1 ms). */
  readWaitMs: 86_400_000,
  /**
   * Arguments of a process as lists show them, in UTF-8; what is left out is counted. Enough for what people type, and the
   * infos of all processes that a supervisor keeps could stand in one frame.
   */
  infoArgvBytes: 2048,
  /** Labels of a process: lists and changes carry them all. */
  labels: 64,
  /** Names and values of a process's labels together, in UTF-8. */
  labelBytes: 8192,
  /** A path, in bytes without the NUL: PATH_MAX of Linux less one. */
  pathBytes: 4095,
  /** What a process costs beside its output and the texts of its info (measured: 4,500 in all when closed), charged to the memory budget. */
  processOverheadBytes: 4096,
  /** Infos of all closed processes; beyond it the oldest processes are removed early. More than `closedProcesses` of usual ones. */
  closedInfoBytes: 48 * 1024 * 1024,
  /** Patterns of an environment policy, each of its two lists. */
  envPatterns: 1024,
  /** Characters of such a pattern: it is held against every variable, and takes their lengths multiplied. */
  envPatternChars: 256,
  /** A list for a client that knows no pages; arguments are shortened further where it would be more. */
  listBytes: 4 * 1024 * 1024,
  /** A page of a list: encoding a larger one would keep everybody else waiting for milliseconds. */
  listPageBytes: 512 * 1024,
  /** Characters of a process id chosen by a caller: the Codex client's need no more than this. */
  processIdChars: 8192,
  /** One frame on a connection; larger ones close it with 1009. Far above a read reply of a whole log (1 MiB). */
  frameBytes: 16 * 1024 * 1024,
  /**
   * What a peer may send before it has shown who it is: a hello with a token, a session and some thousand pending
   * requests. Pieces in which it arrives are charged too, and a frame of it is judged by its announced length.
   */
  helloBytes: 64 * 1024,
  /** One frame of a viewer: all it can send is a small request, which acknowledges some thousand replies at most. */
  viewFrameBytes: 64 * 1024,
  /** Nesting of a message: the deepest legal one has 5 levels. */
  messageDepth: 16,
  /** Values of a message, keys included: a read reply of 50,000 chunks has 450,000. */
  messageValues: 524_288,
  /** From the opened connection to its hello: a port scanner holds nothing for longer. */
  handshakeMs: 5_000,
  /** A silent connection is asked for a sign of life this often, and is dead when two in a row stay unanswered. */
  pingMs: 20_000,
  /** A session outlives its connection this long: the Codex exec-server's 80 s. Must exceed `recoveryMs`. */
  sessionTtlMs: 80_000,
  /** A client tries this long to come back before it gives up. */
  recoveryMs: 45_000,
  /** First pause between two attempts to come back; doubled each time, with jitter. */
  backoffFirstMs: 50,
  /** Longest pause between two attempts: a server that is back is found within this time. */
  backoffLastMs: 5_000,
  /** Bytes handed to a socket and not yet taken by the kernel, above which subscriptions of this connection wait. */
  outboxBytes: 1024 * 1024,
  /** The same for everything, replies included: beyond it the peer does not read at all and the connection is closed. */
  outboxMaxBytes: 64 * 1024 * 1024,
  /** Replies to one peer that the kernel has not taken, above which nothing more is read from it: it asks and does not read. */
  outboxReplyBytes: 1024 * 1024,
  /** What a queued frame costs beside its bytes (two writes, their callbacks, a header: measured 500 of heap, 1,000 of RSS). */
  frameOverheadBytes: 1024,
  /**
   * Outboxes and running requests of all connections that may act, together: 128 outboxes that are full, twice over. With more
   * connections each may hold less.
   */
  connectionsBytes: 256 * 1024 * 1024,
  /**
   * The same for all viewers: they cannot take what the others need, nor make the server grow by more than 64 MiB. Its memory grows
   * by two to three times of what is counted (measured), for what was sent is only freed when V8 collects. Each of them may have a
   * full chunk on its way.
   */
  viewConnectionsBytes: 16 * 1024 * 1024,
  /** A peer that takes not one byte of what waits for it for this long is dropped. Any byte counts, so a slow line is not. */
  stallMs: 30_000,
  /** When the outboxes of its kind are full together for this long, a connection that holds more than its share is dropped. */
  crowdedMs: 2_000,
  /** Time that all peers that may act get in one turn of the event loop; the rest of their frames waits for the next turn. */
  turnMs: 8,
  /** The same for peers that have not said hello, and for viewers, who then rest three times as long. */
  viewTurnMs: 4,
  /** What a lossless subscriber is sent ahead of its acknowledgement. Half of what a replica retains, so it never evicts unread events. */
  windowBytes: 512 * 1024,
  /** Requests of one session that are running or whose replies were not acknowledged. */
  requests: 4096,
  /** Requests of one viewer that are running: a read that waits for each process, with room to spare. */
  viewRequests: 1024,
  /** What a running request costs beside its frame (promises, a timer, listeners: measured 4,000 for a read that waits). */
  requestOverheadBytes: 4096,
  /** Replies that one session keeps because they were not acknowledged; beyond it the client can ask for nothing more. */
  sessionRepliesBytes: 16 * 1024 * 1024,
  /** The same for all sessions together: eight clients that never acknowledge. */
  repliesBytes: 128 * 1024 * 1024,
  /** Connections of one server that may control. */
  connections: 10_000,
  /** Connections of viewers. Beside those that control, so that they never take the place of one; each may hold a frame. */
  viewConnections: 128,
  /**
   * Connections that have not shown who they are yet, at a time: with what each may hold they cost 32 MiB. Beyond it the one
   * that waits longest is closed. Never more than an eighth of the descriptors that this program may open.
   */
  waitingConnections: 256,
  /** Descriptors kept free for children and files: with fewer, viewers are not let in and few connections wait. At most an eighth of all. */
  reservedDescriptors: 128,
  /** Sessions that may control, detached ones included. */
  sessions: 10_000,
  /** Sessions of viewers, detached ones included. More than their connections, so that a viewer that comes back finds room. */
  viewSessions: 512,
  /** A viewer's session outlives its connection this long: a short cut. It owns nothing that would be worth more. */
  viewSessionTtlMs: 10_000,
  /**
   * Characters of all globs of an `envPolicy`, times those of all names they are held against: some milliseconds. A policy
   * of fifty globs for two hundred variables takes a million.
   */
  envGlobSteps: 16_000_000,
  /** Bytes of one argument or environment entry with its NUL: Linux's MAX_ARG_STRLEN, 32 pages. */
  argBytes: 131_072,
} as const;

/** What every peer must take in one frame. The info of a process stays below it, with the longest id, labels and directory. */
export const MIN_FRAME_BYTES = 64 * 1024;

/** The least that a server may ask for as `pingMs`: more often it would keep its client from everything else. */
export const MIN_PING_MS = 10;

/** The most that a server may announce as `windowBytes`: a client keeps so much for a reader that does not read. */
export const MAX_WINDOW_BYTES = 64 * 1024 * 1024;

/** Limits as a caller may override them. */
export type Limits = { readonly [K in keyof typeof limits]: number };
