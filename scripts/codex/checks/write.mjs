// process/write: status, refusals, idempotency (section 3).
import { CAT, write } from "./writes.mjs";

const PATH = { PATH: "/usr/bin:/bin" };

/** A check of a refused write with `params` to an unknown process. */
const refused = (id, what, params, expect) => ({
  id: `write/${id}`,
  section: "3",
  what,
  run: async (ctx) => {
    const reply = await (await ctx.session()).call("process/write", {
      processId: "none",
      chunk: "aGk=",
      writeId: "1",
      ...params,
    });
    return reply.error ? { code: reply.error.code, message: reply.error.message.split(/ \d/)[0] } : reply.result;
  },
  expect,
});

const INVALID = (message) => ({ code: -32602, message });

export const writing = [
  refused(
    "unknown-process",
    "a write to an unknown process is unknownProcess and no error",
    {},
    { status: "unknownProcess" },
  ),
  refused("no-padding", "base64 without padding is refused", { chunk: "aGk" }, INVALID("Invalid padding")),
  refused("bad-symbol", "base64 with a foreign symbol is refused", { chunk: "a!k=" }, INVALID("Invalid symbol")),
  refused("last-symbol", "base64 with stray last bits is refused", { chunk: "aGl=" }, INVALID("Invalid last symbol")),
  refused("url-alphabet", "the URL alphabet of base64 is refused", { chunk: "_-8=" }, INVALID("Invalid symbol")),
  refused("empty-id", "an empty writeId is refused", { writeId: "" }, INVALID("writeId must not be empty")),
  refused("no-id", "a missing writeId is refused", { writeId: undefined }, INVALID("missing field `writeId`")),
  {
    id: "write/any-id",
    section: "3",
    what: "any text is a writeId, and a repeated one is not written again",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, CAT);
      const statuses = [];
      for (const writeId of ["x".repeat(100_000), "a\0b", "x".repeat(100_000)])
        statuses.push(await write(peer, processId, Buffer.from("y"), writeId));
      await write(peer, processId, Buffer.from("z"), "last");
      await peer.waitFor(() => peer.bytesOf(processId).includes("z"));
      return { statuses, printed: peer.bytesOf(processId).toString() };
    },
    expect: { statuses: ["accepted", "accepted", "accepted"], printed: "yyz" },
  },
  {
    id: "write/echo",
    section: "3",
    what: "written bytes reach the child unchanged",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, CAT);
      const bytes = Buffer.from(Array.from({ length: 256 }, (_, byte) => byte));
      const status = await write(peer, processId, bytes, "1");
      await peer.waitFor(() => peer.bytesOf(processId).length >= 256);
      return { status, same: peer.bytesOf(processId).equals(bytes) };
    },
    expect: { status: "accepted", same: true },
  },
  {
    id: "write/no-stdin",
    section: "3",
    what: "a process without pipeStdin and tty has its stdin closed",
    run: async (ctx) => {
      const peer = await ctx.session();
      return write(peer, await ctx.start(peer, { sh: "sleep 20", env: PATH }), "x", "1");
    },
    expect: "stdinClosed",
  },
  {
    id: "write/empty",
    section: "3",
    what: "an empty chunk is accepted and does not close stdin",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, CAT);
      const statuses = [await write(peer, processId, "", "1"), await write(peer, processId, "x\n", "2")];
      await peer.waitForText(processId, "x\n");
      return statuses;
    },
    expect: ["accepted", "accepted"],
  },
  {
    id: "write/repeated",
    section: "3",
    what: "a write repeated with its writeId is accepted and not written again",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, CAT);
      const statuses = [];
      for (const [line, writeId] of [
        ["a\n", "1"],
        ["a\n", "1"],
        ["b\n", "2"],
        ["a\n", "1"],
        ["c\n", "3"],
      ]) {
        statuses.push(await write(peer, processId, line, writeId));
      }
      await peer.waitForText(processId, "c\n");
      return { statuses: statuses.join(" "), printed: peer.textOf(processId) };
    },
    expect: { statuses: "accepted accepted accepted accepted accepted", printed: "a\nb\nc\n" },
  },
  {
    id: "write/conflict",
    section: "3",
    what: "a writeId repeated with other bytes is accepted, and the bytes are dropped",
    run: async (ctx) => {
      const peer = await ctx.session();
      const processId = await ctx.start(peer, CAT);
      await write(peer, processId, "a\n", "1");
      const other = await write(peer, processId, "b\n", "1");
      await write(peer, processId, "c\n", "2");
      await peer.waitForText(processId, "c\n");
      return { other, printed: peer.textOf(processId) };
    },
    expect: { other: "accepted", printed: "a\nc\n" },
    better: { expect: { other: -32600, printed: "a\nc\n" }, why: "bytes that are not written are not acknowledged" },
  },
  {
    id: "write/id-per-process",
    section: "3",
    what: "two processes can use the same writeId",
    run: async (ctx) => {
      const peer = await ctx.session();
      const [one, two] = [await ctx.start(peer, CAT), await ctx.start(peer, CAT)];
      await write(peer, one, "one\n", "1");
      await write(peer, two, "two\n", "1");
      await peer.waitForText(one, "one\n");
      return peer.waitForText(two, "two\n").then(() => "both");
    },
    expect: "both",
  },
];
