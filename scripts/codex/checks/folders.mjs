// fs/* on folders: listing, creating, removing, copying (section 4).
import { readFileSync } from "node:fs";
import { ask, at, files, NOT_FOUND, refused, tree } from "./file-tree.mjs";

export const folders = [
  files(
    "read-directory",
    "a folder is listed without dangling links",
    async (peer, ctx) => {
      const { entries } = await peer.ask("fs/readDirectory", { path: ctx.uri() });
      return entries.sort((a, b) => (a.fileName < b.fileName ? -1 : 1));
    },
    [
      { fileName: "file", isDirectory: false, isFile: true },
      { fileName: "folder", isDirectory: true, isFile: false },
      { fileName: "link", isDirectory: false, isFile: true },
    ],
    tree,
  ),
  refused("read-directory-missing", "a missing folder is -32004", "fs/readDirectory", at("none"), NOT_FOUND),
  files(
    "create-directory",
    "folders are created with their parents, and may already exist",
    async (peer, ctx) => [
      await ask(peer, "fs/createDirectory", { path: ctx.uri("a/b/c") }),
      await ask(peer, "fs/createDirectory", { path: ctx.uri("a/b/c") }),
      await ask(peer, "fs/createDirectory", { path: ctx.uri("d/e"), recursive: false }),
    ],
    ["ok", "ok", -32004],
  ),
  refused(
    "create-existing",
    "creating an existing folder without recursive is -32603",
    "fs/createDirectory",
    (ctx) => ({ path: ctx.uri("folder"), recursive: false }),
    { code: -32603, message: "File exists (os error 17)" },
    tree,
  ),
  files(
    "remove",
    "remove deletes trees and ignores missing paths, unless the options forbid it",
    async (peer, ctx) => [
      await ask(peer, "fs/remove", { path: ctx.uri("folder"), recursive: false }),
      await ask(peer, "fs/remove", { path: ctx.uri("folder") }),
      await ask(peer, "fs/remove", { path: ctx.uri("folder") }),
      await ask(peer, "fs/remove", { path: ctx.uri("folder"), force: false }),
      await ask(peer, "fs/remove", { path: ctx.uri("link") }),
      readFileSync(ctx.path("file"), "utf8"),
    ],
    [-32603, "ok", "ok", -32004, "ok", "text"],
    tree,
  ),
  files(
    "copy",
    "files and whole folders are copied",
    async (peer, ctx) => {
      const copy = (from, to, recursive) =>
        ask(peer, "fs/copy", { sourcePath: ctx.uri(from), destinationPath: ctx.uri(to), recursive });
      return [
        await copy("file", "file2", false),
        await copy("folder", "folder2", true),
        await copy("none", "none2", false),
        await copy("folder", "folder/deeper", true),
        await copy("file", "file3", undefined),
        readFileSync(ctx.path("file2"), "utf8") + readFileSync(ctx.path("folder2/inner"), "utf8"),
      ];
    },
    ["ok", "ok", -32004, -32600, -32602, "textinner"],
    tree,
  ),
  refused(
    "copy-folder",
    "a folder is copied only with recursive",
    "fs/copy",
    (ctx) => ({ sourcePath: ctx.uri("folder"), destinationPath: ctx.uri("folder2"), recursive: false }),
    { code: -32600, message: "fs/copy requires recursive: true when sourcePath is a directory" },
    tree,
  ),
  files(
    "canonicalize",
    "canonicalize resolves links and dots",
    async (peer, ctx) => {
      const { path } = await peer.ask("fs/canonicalize", { path: `${ctx.uri("folder")}/../link` });
      return path.replace(ctx.uri(), "DIR");
    },
    "DIR/file",
    tree,
  ),
  refused("canonicalize-missing", "canonicalize of a missing path is -32004", "fs/canonicalize", at("none"), NOT_FOUND),
  refused("unknown-method", "there is no fs/rename", "fs/rename", at("file"), -32601),
];
