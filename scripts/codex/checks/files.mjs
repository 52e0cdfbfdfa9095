// fs/* on single files: reading, writing, metadata (section 4).
import { readFileSync, readlinkSync, truncateSync } from "node:fs";
import { base64 } from "../observe.mjs";
import { at, files, NOT_FOUND, refused, tree } from "./file-tree.mjs";

const kind = ({ isFile, isDirectory, isSymlink, size }) => ({ isFile, isDirectory, isSymlink, size });

export const wholeFiles = [
  files(
    "round-trip",
    "a read returns what was written, and a write replaces the whole file",
    async (peer, ctx) => {
      const path = ctx.uri("file");
      const answers = [await peer.ask("fs/writeFile", { path, dataBase64: base64("a longer text") })];
      answers.push(await peer.ask("fs/writeFile", { path, dataBase64: base64([0, 255]) }));
      return [...answers, await peer.ask("fs/readFile", { path }), readFileSync(ctx.path("file")).toString("hex")];
    },
    [{}, {}, { dataBase64: base64([0, 255]) }, "00ff"],
  ),
  files(
    "names",
    "names are percent-encoded: blanks, letters, percent signs and #",
    async (peer, ctx) => {
      const path = ctx.uri("ä b%20#?c");
      await peer.ask("fs/writeFile", { path, dataBase64: base64("x") });
      return readFileSync(ctx.path("ä b%20#?c"), "utf8");
    },
    "x",
  ),
  refused("read-missing", "a missing file is -32004", "fs/readFile", at("none"), NOT_FOUND),
  refused("read-folder", "reading a folder is refused", "fs/readFile", at(), {
    code: -32600,
    message: "path `DIR` is not a file",
  }),
  refused("native-path", "a native path is -32602", "fs/readFile", (ctx) => ({ path: ctx.dir }), -32602),
  refused(
    "foreign-host",
    "a path on another host is -32600",
    "fs/readFile",
    () => ({ path: "file://host/etc" }),
    -32600,
  ),
  refused("no-path", "a missing path is -32602", "fs/readFile", () => ({}), -32602),
  refused(
    "write-nowhere",
    "writing into a missing folder is -32004",
    "fs/writeFile",
    (ctx) => ({ path: ctx.uri("none/file"), dataBase64: "" }),
    NOT_FOUND,
  ),
  refused(
    "read-too-large",
    "a file of more than 512 MiB is refused",
    "fs/readFile",
    at("file"),
    { code: -32600, message: "file is too large to read: limit is 536870912 bytes" },
    (ctx) => {
      tree(ctx);
      truncateSync(ctx.path("file"), 512 * 1024 * 1024 + 1);
    },
  ),
  files(
    "write-link",
    "a write through a link keeps the link and changes the file",
    async (peer, ctx) => {
      await peer.ask("fs/writeFile", { path: ctx.uri("link"), dataBase64: base64("new") });
      return [readFileSync(ctx.path("file"), "utf8"), readlinkSync(ctx.path("link"))];
    },
    ["new", "file"],
    tree,
  ),
  files(
    "write-base64",
    "bad base64 is -32600 and does not change the file",
    async (peer, ctx) => {
      const reply = await peer.call("fs/writeFile", { path: ctx.uri("file"), dataBase64: "a!" });
      return {
        code: reply.error.code,
        says: reply.error.message.split(":")[0],
        file: readFileSync(ctx.path("file"), "utf8"),
      };
    },
    { code: -32600, says: "fs/writeFile requires valid base64 dataBase64", file: "text" },
    tree,
  ),
  files(
    "metadata",
    "metadata of a file, a folder and a link, with type and size of the link's target",
    async (peer, ctx) => {
      const observed = {};
      for (const name of ["file", "folder/inner", "link"])
        observed[name] = kind(await peer.ask("fs/getMetadata", { path: ctx.uri(name) }));
      return { ...observed, folder: (await peer.ask("fs/getMetadata", { path: ctx.uri("folder") })).isDirectory };
    },
    {
      file: { isFile: true, isDirectory: false, isSymlink: false, size: 4 },
      "folder/inner": { isFile: true, isDirectory: false, isSymlink: false, size: 5 },
      link: { isFile: true, isDirectory: false, isSymlink: true, size: 4 },
      folder: true,
    },
    tree,
  ),
  files(
    "metadata-times",
    "metadata has the times as whole milliseconds",
    async (peer, ctx) => {
      const metadata = await peer.ask("fs/getMetadata", { path: ctx.uri("file") });
      const isRecent = Math.abs(metadata.modifiedAtMs - Date.now()) < 60_000;
      return { keys: Object.keys(metadata).sort(), isRecent, isWhole: Number.isInteger(metadata.createdAtMs) };
    },
    {
      keys: ["createdAtMs", "isDirectory", "isFile", "isSymlink", "modifiedAtMs", "size"],
      isRecent: true,
      isWhole: true,
    },
    tree,
  ),
  refused("metadata-missing", "metadata of a missing path is -32004", "fs/getMetadata", at("none"), NOT_FOUND),
  refused(
    "metadata-dangling",
    "metadata of a dangling link is -32004",
    "fs/getMetadata",
    at("dangling"),
    NOT_FOUND,
    tree,
  ),
  refused(
    "metadata-no-follow",
    "metadata of a link is refused when links must not be followed",
    "fs/getMetadata",
    (ctx) => ({ path: ctx.uri("link"), followSymlinks: false }),
    { code: -32600, message: "path contains a symbolic link" },
    tree,
  ),
  refused(
    "read-no-follow",
    "a read through a link is refused when links must not be followed",
    "fs/readFile",
    (ctx) => ({ path: ctx.uri("link"), followSymlinks: false }),
    -32603,
    tree,
  ),
];
