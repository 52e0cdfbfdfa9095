// What survives a lost connection and what does not (section 2, lifetime).
import { existsSync, writeFileSync } from "node:fs";
import { eventually, outcome, text } from "../observe.mjs";

const PATH = { PATH: "/usr/bin:/bin" };
/** Shell code that waits until the file `go` exists. */
const WAIT = "until [ -e go ]; do sleep 0.02; done";

/** All output that `process/read` still returns. */
async function readAll(peer, processId) {
  const { chunks } = await peer.ask("process/read", { processId, afterSeq: 0 });
  return { first: chunks[0]?.seq, text: chunks.map(({ chunk }) => text(chunk)).join("") };
}

/** A process prints `one`, `leave` ends the connection, and the process prints `two` while no client is connected. */
const resumed = (id, what, leave) => ({
  id: `resume/${id}`,
  section: "2",
  what,
  run: async (ctx) => {
    const peer = await ctx.session();
    const processId = await ctx.start(peer, { sh: `echo one; ${WAIT}; echo two; touch said; sleep 30`, env: PATH });
    await peer.waitForText(processId, "one\n");
    leave(peer);
    await peer.closed;
    writeFileSync(ctx.path("go"), "");
    await eventually(() => existsSync(ctx.path("said")));
    const again = await ctx.resume(peer.sessionId);
    const { chunks, ...rest } = await again.ask("process/read", { processId, afterSeq: 1 });
    const replayed = again.eventsOf(processId).length;
    await again.ask("process/terminate", { processId });
    await again.waitForPush("process/closed", processId);
    await eventually(() => again.eventsOf(processId).length === 2);
    const events = again.eventsOf(processId).map(({ method, params }) => `${params.seq} ${method}`);
    return {
      sameSession: again.sessionId === peer.sessionId,
      gap: chunks.map(({ seq, chunk }) => `${seq} ${text(chunk)}`),
      rest,
      replayed,
      events,
    };
  },
  expect: {
    sameSession: true,
    gap: ["2 two\n"],
    rest: { nextSeq: 3, exited: false, exitCode: null, closed: false, failure: null, sandboxDenied: false },
    replayed: 0,
    events: ["3 process/exited", "4 process/closed"],
  },
});

export const resume = [
  resumed("closed", "after a close the session resumes where it was, and the missed output is read", (peer) =>
    peer.wire.close(),
  ),
  resumed("cut", "after a cut the session resumes where it was, and the missed output is read", (peer) =>
    peer.wire.cut(),
  ),
  {
    id: "resume/live",
    section: "2",
    what: "after a resume new output is pushed without a request",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: `echo one; ${WAIT}; echo two; sleep 30`, env: PATH });
      await peer.waitForText(processId, "one\n");
      peer.wire.cut();
      await peer.closed;
      const again = await ctx.resume(peer.sessionId);
      writeFileSync(ctx.path("go"), "");
      await again.waitForText(processId, "two\n");
      await again.ask("process/terminate", { processId });
      await again.waitForPush("process/closed", processId);
      await eventually(() => again.eventsOf(processId).length === 3);
      return again
        .eventsOf(processId)
        .map(({ params }) => ({ ...params, processId: undefined, chunk: text(params.chunk ?? "") }));
    },
    expect: [
      { seq: 2, stream: "stdout", chunk: "two\n" },
      { seq: 3, exitCode: 137, sandboxDenied: false, chunk: "" },
      { seq: 4, chunk: "" },
    ],
  },
  {
    id: "resume/ended-meanwhile",
    section: "2",
    what: "process/read reports a process that ended while no client was connected",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: `${WAIT}; echo out; exit 3`, env: PATH });
      peer.wire.cut();
      await peer.closed;
      writeFileSync(ctx.path("go"), "");
      const again = await ctx.resume(peer.sessionId);
      let reply;
      await eventually(async () => {
        reply = await again.ask("process/read", { processId, afterSeq: 0, waitMs: 100 });
        return reply.closed;
      });
      return { ...reply, chunks: reply.chunks.map(({ chunk }) => text(chunk)) };
    },
    expect: {
      chunks: ["out\n"],
      nextSeq: 4,
      exited: true,
      exitCode: 3,
      closed: true,
      failure: null,
      sandboxDenied: false,
    },
  },
  {
    id: "resume/write-id",
    section: "3",
    what: "a write repeated after a resume is not written twice",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "exec cat", env: PATH, pipeStdin: true });
      const params = { processId, chunk: Buffer.from("once\n").toString("base64"), writeId: "1" };
      await peer.ask("process/write", params);
      await peer.waitForText(processId, "once\n");
      peer.wire.cut();
      await peer.closed;
      const again = await ctx.resume(peer.sessionId);
      const { status } = await again.ask("process/write", params);
      await again.ask("process/write", { ...params, chunk: Buffer.from("twice\n").toString("base64"), writeId: "2" });
      await again.waitForText(processId, "twice\n");
      return { status, printed: (await readAll(again, processId)).text };
    },
    expect: { status: "accepted", printed: "once\ntwice\n" },
  },
  {
    id: "resume/file-handles",
    section: "2",
    what: "open files are lost with the connection",
    run: async (ctx) => {
      const peer = await ctx.session();
      writeFileSync(ctx.path("file"), "text");
      await peer.ask("fs/open", { handleId: "h", path: ctx.uri("file") });
      peer.wire.cut();
      await peer.closed;
      const again = await ctx.resume(peer.sessionId);
      return outcome(await again.call("fs/readBlock", { handleId: "h", offset: 0, len: 1 }));
    },
    expect: -32004,
  },
  {
    id: "resume/3-mb",
    section: "2",
    what: "of 3 MB printed while no client was connected, only the last MiB is kept",
    run: async (ctx) => {
      const peer = await ctx.session();
      const print = `head -c 3000000 /dev/zero | tr "\\0" x; touch printed`;
      const processId = await ctx.start(peer, { sh: `${WAIT}; ${print}; sleep 30`, env: PATH });
      peer.wire.cut();
      await peer.closed;
      writeFileSync(ctx.path("go"), "");
      await eventually(() => existsSync(ctx.path("printed")));
      const again = await ctx.resume(peer.sessionId);
      // The server may not have read the end from the pipe yet.
      let kept;
      await eventually(async () => {
        kept = await readAll(again, processId);
        return kept.text.length >= 3_000_000 || (kept.text.length > 1_000_000 && kept.first > 1);
      }, 2_000);
      return { begins: kept.first === 1, all: kept.text.length === 3_000_000 };
    },
    expect: { begins: false, all: false },
    better: {
      expect: { begins: true, all: true },
      why: "output that no client could receive is kept for a client that reconnects",
    },
  },
  {
    id: "resume/half-open",
    section: "2",
    what: "resuming a session whose connection is half-open is always refused",
    slow: true,
    run: async (ctx) => {
      const peer = await ctx.session();
      peer.wire.pause();
      const other = await ctx.connect();
      const attempt = async () =>
        outcome(await other.call("initialize", { clientName: "x", resumeSessionId: peer.sessionId }));
      const first = await attempt();
      const isResumed = await eventually(async () => (await attempt()) === "ok", 10_000);
      return { first, later: isResumed ? "resumed" : "refused" };
    },
    expect: { first: -32010, later: "refused" },
    better: {
      expect: { first: -32010, later: "resumed" },
      why: "a connection that answers no ping loses its session",
    },
  },
];
