// process/read: positions and limits (section 3).
import { outcome, refusal, text } from "../observe.mjs";
import { readable } from "./reading.mjs";

const PATH = { PATH: "/usr/bin:/bin" };

/** Reads with `params` from a closed process that has printed `out`, then `err`. */
const afterEnd = (id, what, params, expect) => ({
  id: `read/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const peer = await ctx.session();
    const sh = "echo out; sleep 0.1; echo err >&2; read line; exit 3";
    const processId = await ctx.runInOrder(peer, { sh, texts: ["out", "err"], env: PATH });
    return readable(await peer.ask("process/read", { processId, ...params }));
  },
  expect,
});

const invalid = (id, what, params, expect) => ({
  id: `read/${id}`,
  section: "3",
  what,
  run: async (ctx) => outcome(await (await ctx.session()).call("process/read", { processId: "none", ...params })),
  expect,
});

const OUT = "1 stdout out\n";
const ERR = "2 stderr err\n";
const ENDED = { nextSeq: 5, exited: true, exitCode: 3, closed: true, failure: null, sandboxDenied: false };

export const read = [
  afterEnd("all", "a read returns all chunks, the end, and the next seq", {}, { chunks: [OUT, ERR], ...ENDED }),
  afterEnd(
    "nulls",
    "afterSeq, maxBytes and waitMs may be null",
    { afterSeq: null, maxBytes: null, waitMs: null },
    { chunks: [OUT, ERR], ...ENDED },
  ),
  afterEnd("after-seq", "only chunks after afterSeq are returned", { afterSeq: 1 }, { chunks: [ERR], ...ENDED }),
  afterEnd(
    "after-the-end",
    "a position beyond the end returns nothing, at once if the process is closed",
    { afterSeq: 99, waitMs: 60_000 },
    { chunks: [], ...ENDED },
  ),
  afterEnd(
    "max-bytes-0",
    "maxBytes 0 returns one whole chunk, and nextSeq follows it",
    { maxBytes: 0 },
    { chunks: [OUT], ...ENDED, nextSeq: 2 },
  ),
  afterEnd(
    "max-bytes-exact",
    "maxBytes equal to the size of the chunks returns them",
    { maxBytes: 8 },
    { chunks: [OUT, ERR], ...ENDED, nextSeq: 3 },
  ),
  afterEnd(
    "max-bytes-less",
    "a chunk that no longer fits is left for the next read",
    { maxBytes: 7 },
    { chunks: [OUT], ...ENDED, nextSeq: 2 },
  ),
  {
    id: "read/unknown",
    section: "3",
    what: "an unknown process is refused by name",
    run: async (ctx) => refusal(await (await ctx.session()).call("process/read", { processId: "zz" })),
    expect: { code: -32600, message: "unknown process id zz" },
  },
  invalid("negative", "a negative position is -32602", { afterSeq: -1 }, -32602),
  invalid("fraction", "a fraction as position is -32602", { afterSeq: 1.5 }, -32602),
  invalid("string", "a string as position is -32602", { afterSeq: "1" }, -32602),
  invalid("id-number", "a number as process id is -32602", { processId: 5 }, -32602),
  invalid("wait-negative", "a negative wait is -32602", { waitMs: -1 }, -32602),
  {
    id: "read/paging",
    section: "3",
    what: "continuing from nextSeq - 1 returns every byte once",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "seq 1 100000", env: PATH });
      const { stdout } = await peer.ended(processId);
      let [printed, afterSeq, reads] = ["", 0, 0];
      for (let more = true; more; reads++) {
        const reply = await peer.ask("process/read", { processId, afterSeq, maxBytes: 100_000 });
        printed += reply.chunks.map(({ chunk }) => text(chunk)).join("");
        afterSeq = reply.nextSeq - 1;
        more = reply.chunks.length > 0;
      }
      return { same: printed === stdout, several: reads > 3 };
    },
    expect: { same: true, several: true },
  },
  {
    id: "read/retention",
    section: "3",
    what: "at least the last 900 000 bytes of a large output can be read again",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, { sh: "seq 1 500000", env: PATH });
      const { stdout } = await peer.ended(processId);
      const { chunks } = await peer.ask("process/read", { processId });
      const kept = chunks.map(({ chunk }) => text(chunk)).join("");
      return { enough: kept.length > 900_000, isTheTail: stdout.endsWith(kept) };
    },
    expect: { enough: true, isTheTail: true },
  },
];
