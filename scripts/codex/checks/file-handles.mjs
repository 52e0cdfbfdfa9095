// fs/open and its blocks, and fs/watchMissing (section 4).
import { readFileSync, writeFileSync } from "node:fs";
import { base64, outcome, refusal, text } from "../observe.mjs";

const handles = (id, what, act, expect) => ({
  id: `file-handles/${id}`,
  section: "4",
  what,
  run: async (ctx) => {
    writeFileSync(ctx.path("file"), "0123456789");
    const peer = await ctx.session();
    const call = async (method, params) => refusal(await peer.call(method, params), { [ctx.dir]: "DIR" });
    return act({ call, peer, ctx, path: ctx.uri("file") });
  },
  expect,
});

const BLOCK = (verb) => ({ code: -32600, message: `file ${verb} block length must be between 1 and 1048576` });

export const fileHandles = [
  handles(
    "read",
    "blocks are read at offsets; the last one is shorter, and one after the end is empty",
    async ({ peer, path }) => {
      const observed = [await peer.ask("fs/open", { handleId: "h", path })];
      for (const [offset, len] of [
        [2, 3],
        [8, 10],
        [10, 1],
        [99, 1],
      ]) {
        const { chunk, eof } = await peer.ask("fs/readBlock", { handleId: "h", offset, len });
        observed.push(`${text(chunk)} ${eof}`);
      }
      return observed;
    },
    [{ handleId: "h" }, "234 false", "89 true", " true", " true"],
  ),
  handles(
    "replace",
    "mode replace empties the file at once, and blocks are written at their offsets",
    async ({ peer, ctx, path }) => {
      await peer.ask("fs/open", { handleId: "", path, mode: "replace" });
      const observed = [readFileSync(ctx.path("file"), "utf8")];
      await peer.ask("fs/writeBlock", { handleId: "", offset: 3, chunk: base64("de") });
      await peer.ask("fs/writeBlock", { handleId: "", offset: 0, chunk: base64("a") });
      observed.push(readFileSync(ctx.path("file"), "utf8"));
      return [...observed, await peer.ask("fs/close", { handleId: "" })];
    },
    ["", "a\0\0de", {}],
  ),
  handles(
    "duplicate",
    "a handle in use is refused by name, and can be used again after a close",
    async ({ call, path }) => {
      await call("fs/open", { handleId: "h1", path });
      const second = await call("fs/open", { handleId: "h1", path });
      const closed = [await call("fs/close", { handleId: "h1" }), await call("fs/close", { handleId: "h1" })];
      return [second, ...closed, await call("fs/open", { handleId: "h1", path })];
    },
    [
      { code: -32600, message: "file handle `h1` already exists" },
      { result: {} },
      { result: {} },
      { result: { handleId: "h1" } },
    ],
  ),
  handles(
    "limit",
    "the 129th open file of a connection is refused",
    async ({ call, path }) => {
      for (let number = 0; number < 128; number++) await call("fs/open", { handleId: `${number}`, path });
      const refused = await call("fs/open", { handleId: "128", path });
      await call("fs/close", { handleId: "0" });
      return [refused, await call("fs/open", { handleId: "128", path })];
    },
    [{ code: -32600, message: "at most 128 file handles may be open per connection" }, { result: { handleId: "128" } }],
  ),
  handles(
    "per-connection",
    "a handle belongs to its connection",
    async ({ peer, ctx, path }) => {
      await peer.ask("fs/open", { handleId: "h", path });
      const other = await ctx.session();
      return refusal(await other.call("fs/readBlock", { handleId: "h", offset: 0, len: 1 }));
    },
    { code: -32004, message: "unknown file handle `h`" },
  ),
  handles(
    "lengths",
    "a block has at least 1 byte and at most 1 MiB",
    async ({ call, path }) => {
      await call("fs/open", { handleId: "r", path });
      const observed = [];
      for (const len of [0, 1_048_577]) observed.push(await call("fs/readBlock", { handleId: "r", offset: 0, len }));
      await call("fs/open", { handleId: "w", path, mode: "replace" });
      for (const length of [0, 1_048_577])
        observed.push(await call("fs/writeBlock", { handleId: "w", offset: 0, chunk: base64("x".repeat(length)) }));
      observed.push(await call("fs/writeBlock", { handleId: "w", offset: 0, chunk: base64("x".repeat(1_048_576)) }));
      return observed;
    },
    [BLOCK("read"), BLOCK("read"), BLOCK("write"), BLOCK("write"), { result: {} }],
  ),
  handles(
    "wrong-mode",
    "writing to a file that was opened for reading is -32603",
    async ({ call, path }) => {
      await call("fs/open", { handleId: "h", path });
      return (await call("fs/writeBlock", { handleId: "h", offset: 0, chunk: "aGk=" })).code;
    },
    -32603,
  ),
  handles(
    "open-refusals",
    "opening a folder, a missing file, or with an unknown mode is refused",
    async ({ peer, ctx }) => [
      outcome(await peer.call("fs/open", { handleId: "a", path: ctx.uri() })),
      outcome(await peer.call("fs/open", { handleId: "b", path: ctx.uri("none") })),
      outcome(await peer.call("fs/open", { handleId: "c", path: ctx.uri("file"), mode: "append" })),
    ],
    [-32600, -32004, -32602],
  ),
  handles(
    "watch",
    "a missing path is watched until it appears, which is announced once",
    async ({ peer, ctx }) => {
      const { watching } = await peer.ask("fs/watchMissing", { watchId: 7, missing: [ctx.uri("new")], present: null });
      writeFileSync(ctx.path("new"), "");
      const { params } = await peer.waitFor(({ method }) => method === "fs/missingChanged");
      return { watching, params };
    },
    { watching: true, params: { watchId: 7 } },
  ),
  handles(
    "watch-nothing",
    "if a path exists or none is given, nothing is watched",
    async ({ peer, path }) => [
      await peer.ask("fs/watchMissing", { watchId: 1, missing: [path], present: null }),
      await peer.ask("fs/watchMissing", { watchId: 2, missing: [], present: null }),
    ],
    [{ watching: false }, { watching: false }],
  ),
];
