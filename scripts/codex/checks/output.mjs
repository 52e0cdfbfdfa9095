// The events of a process: output, exited, closed, and their seqs (sections 0 and 3, notifications).
import { base64, eventually, text } from "../observe.mjs";

const PATH = { PATH: "/usr/bin:/bin" };

/** The events of a run in the order of their seqs, output joined by stream. */
const ended = (id, what, options, expect, better) => ({
  id: `output/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const { exitCode, ...streams } = await ctx.run(await ctx.session(), { env: PATH, ...options });
    return { exitCode, ...Object.fromEntries(Object.entries(streams).filter(([, printed]) => printed !== "")) };
  },
  expect,
  ...(better && { better }),
});

const SIGNALLED = (exitCode) => ({ expect: { exitCode }, why: "a death by signal is 128 + n, on a terminal too" });

export const output = [
  ended(
    "streams",
    "stdout and stderr are two streams",
    { sh: "echo out; echo err >&2; exit 3" },
    { exitCode: 3, stdout: "out\n", stderr: "err\n" },
  ),
  ended(
    "tty",
    "a terminal is one stream, pty",
    { sh: "echo out; echo err >&2", tty: true },
    { exitCode: 0, pty: "out\r\nerr\r\n" },
  ),
  ended("exit-255", "an exit code is passed unchanged", { sh: "exit 255" }, { exitCode: 255 }),
  ended("sigkill", "death by SIGKILL is 137", { sh: "kill -9 $$" }, { exitCode: 137 }),
  ended("sigterm", "death by SIGTERM is 143", { sh: "kill -TERM $$" }, { exitCode: 143 }),
  ended("sigint", "death by SIGINT is 130", { sh: "kill -INT $$" }, { exitCode: 130 }),
  ended("tty-exit", "the exit code of a tty child is passed unchanged", { sh: "exit 7", tty: true }, { exitCode: 7 }),
  ended(
    "tty-sigkill",
    "death by a signal on a tty is 1",
    { sh: "kill -9 $$", tty: true },
    { exitCode: 1 },
    SIGNALLED(137),
  ),
  ended(
    "tty-sigterm",
    "death by SIGTERM on a tty is 1",
    { sh: "kill -TERM $$", tty: true },
    { exitCode: 1 },
    SIGNALLED(143),
  ),
  {
    id: "output/events",
    section: "3",
    what: "the events have these fields, and seqs from 1 to closed without holes",
    run: async (ctx) => {
      const peer = await ctx.session();
      await ctx.runInOrder(peer, { processId: "p", sh: "echo out; read line; exit 3", texts: ["out"] });
      return peer.eventsOf("p").map(({ method, params }) => ({ method, ...params }));
    },
    expect: [
      { method: "process/output", processId: "p", seq: 1, stream: "stdout", chunk: base64("out\n") },
      { method: "process/exited", processId: "p", seq: 2, exitCode: 3, sandboxDenied: false },
      { method: "process/closed", processId: "p", seq: 3 },
    ],
  },
  {
    id: "output/numbers",
    section: "0",
    what: "every seq from 1 is used once, and closed has the last one",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, {
        sh: "for i in 1 2 3 4 5 6 7 8 9; do echo $i; echo $i >&2; sleep 0.01; done",
        env: PATH,
      });
      const { stdout, stderr } = await peer.ended(processId);
      const events = peer.eventsOf(processId);
      const isDense = events.every(({ params }, index) => params.seq === index + 1);
      const ends = events.filter(({ method }) => method !== "process/output").map(({ method }) => method);
      return { isDense, last: events.at(-1).method, ends: ends.length, same: stdout === stderr, length: stdout.length };
    },
    expect: { isDense: true, last: "process/closed", ends: 2, same: true, length: 18 },
  },
  {
    id: "output/bytes",
    section: "3",
    what: "bytes that are not UTF-8 arrive unchanged",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "printf '\\377\\000\\303\\050\\n'" });
      await peer.ended(processId);
      return peer.bytesOf(processId).toString("hex");
    },
    expect: "ff00c3280a",
  },
  {
    id: "output/late",
    section: "3",
    what: "exited comes when the leader exits, output of a grandchild may follow, and closed comes at the end of the streams",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "(sleep 0.3; echo late) & echo main; exit 4", env: PATH });
      const { exitCode } = await peer.ended(processId);
      const order = peer.eventsOf(processId).map(({ method, params }) => (params.chunk ? text(params.chunk) : method));
      return { exitCode, lateAfterExit: order.indexOf("late\n") > order.indexOf("process/exited"), last: order.at(-1) };
    },
    expect: { exitCode: 4, lateAfterExit: true, last: "process/closed" },
  },
  {
    id: "output/detached-grandchild",
    section: "3",
    what: "a grandchild that holds no stream does not keep the process open",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "sleep 20 >/dev/null 2>&1 </dev/null & echo $!", env: PATH });
      const begin = Date.now();
      const { stdout } = await peer.ended(processId);
      process.kill(Number(stdout), "SIGKILL");
      return Date.now() - begin < 5_000;
    },
    expect: true,
  },
  {
    id: "output/3-mb",
    section: "3",
    what: "3 MB to a connected client arrive completely",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "seq 1 500000", env: PATH });
      await peer.ended(processId);
      const lines = peer.textOf(processId).split("\n");
      return {
        lines: lines.length,
        inOrder: lines.every((line, index) => index === 500_000 || line === `${index + 1}`),
      };
    },
    expect: { lines: 500_001, inOrder: true },
  },
  {
    id: "output/slow-consumer",
    section: "3",
    what: "a client that does not read blocks the child and loses nothing",
    run: async (ctx) => {
      const peer = await ctx.session();
      const other = await ctx.session();
      const processId = await ctx.start(peer, { sh: "head -c 40000000 /dev/zero; touch printed", env: PATH });
      peer.wire.pause();
      // Long enough for a child that is not blocked.
      const isDone = await eventually(
        async () => (await other.call("fs/getMetadata", { path: ctx.uri("printed") })).result,
        800,
      );
      peer.wire.resume();
      await peer.ended(processId, 60_000);
      return { heldBack: !isDone, bytes: peer.bytesOf(processId).length };
    },
    expect: { heldBack: true, bytes: 40_000_000 },
  },
];
