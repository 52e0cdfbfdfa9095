// process/read with waitMs: what ends a wait, and which requests it delays (section 3).
import { readable } from "./reading.mjs";

const PATH = { PATH: "/usr/bin:/bin" };
const OUT = "1 stdout out\n";

/** Reads with a wait; returns the answer, and whether it came before the wait was over. */
async function timed(peer, params) {
  const begin = Date.now();
  const reply = await peer.ask("process/read", params);
  return { early: Date.now() - begin < params.waitMs, ...readable(reply) };
}

const waiting = (id, what, sh, params, expect) => ({
  id: `read/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const peer = await ctx.session();
    const processId = await ctx.start(peer, { sh, env: PATH });
    if (params.afterSeq) await peer.waitFor(() => peer.eventsOf(processId).length >= params.afterSeq);
    const { early, chunks, exited, closed } = await timed(peer, { processId, ...params });
    return { early, chunks, exited, closed };
  },
  expect,
});

export const readWaits = [
  waiting(
    "wait-elapsed",
    "a wait that elapses returns nothing and is no error",
    "sleep 20",
    { waitMs: 100 },
    { early: false, chunks: [], exited: false, closed: false },
  ),
  waiting(
    "wait-output",
    "a wait ends with the first output",
    "sleep 0.2; echo out; sleep 20",
    { waitMs: 15_000 },
    { early: true, chunks: [OUT], exited: false, closed: false },
  ),
  waiting(
    "wait-none",
    "available output is returned without a wait",
    "echo out; sleep 20",
    { waitMs: 15_000, afterSeq: 0 },
    { early: true, chunks: [OUT], exited: false, closed: false },
  ),
  {
    id: "read/wait-closed",
    section: "3",
    what: "a wait ends when the process closes without output",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "echo out; sleep 0.3; exit 3", env: PATH });
      await peer.waitForText(processId, "out\n");
      // The exit and the end of the streams are two events: the first may end the wait, and the next read returns the other.
      let reply;
      do reply = await timed(peer, { processId, afterSeq: 1, waitMs: 15_000 });
      while (!reply.closed);
      return reply;
    },
    expect: {
      early: true,
      chunks: [],
      nextSeq: 4,
      exited: true,
      exitCode: 3,
      closed: true,
      failure: null,
      sandboxDenied: false,
    },
  },
  {
    id: "read/wait-late",
    section: "3",
    what: "after the exit a read waits again, for output of a grandchild",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "(sleep 0.5; echo late) & exit 3", env: PATH });
      await peer.waitForPush("process/exited", processId);
      const { early, chunks, exited, exitCode } = await timed(peer, { processId, afterSeq: 1, waitMs: 15_000 });
      return { early, chunks, exited, exitCode };
    },
    expect: { early: true, chunks: ["2 stdout late\n"], exited: true, exitCode: 3 },
  },
  {
    id: "read/wait-exit",
    section: "3",
    what: "a wait ends with the exit, even if the streams are still open",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "sleep 3 & sleep 0.3; exit 3", env: PATH });
      const { early, chunks, exited, exitCode, closed } = await timed(peer, { processId, afterSeq: 0, waitMs: 15_000 });
      return { early, chunks, exited, exitCode, closed };
    },
    expect: { early: true, chunks: [], exited: true, exitCode: 3, closed: false },
  },
  {
    id: "read/does-not-block",
    section: "1.6",
    what: "a read that waits delays the requests after it",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "sleep 20", env: PATH });
      const order = [];
      const wait = peer.call("process/read", { processId, waitMs: 1_000 }).then(() => order.push("read"));
      const status = peer.call("environment/status").then(() => order.push("status"));
      await Promise.all([wait, status]);
      return order;
    },
    expect: ["read", "status"],
    better: { expect: ["status", "read"], why: "a long poll delays no other request" },
  },
];
