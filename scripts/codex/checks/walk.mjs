// fs/walk: order, links, limits (section 4).
import { mkdirSync, symlinkSync, writeFileSync } from "node:fs";
import { refusal } from "../observe.mjs";
import { files, tree } from "./file-tree.mjs";

const WALK = { maxDepth: 5, maxDirectories: 100, maxEntries: 100, followDirectorySymlinks: false };

const walk = (id, what, options, expect) =>
  files(
    `walk-${id}`,
    what,
    async (peer, ctx) => {
      const reply = await peer.call("fs/walk", { path: ctx.uri(), options: { ...WALK, ...options } });
      if (reply.error) return refusal(reply);
      const { entries, ...rest } = reply.result;
      return { entries: entries.map(({ path, kind }) => `${kind} ${path.replace(ctx.uri(), "")}`), ...rest };
    },
    expect,
    (ctx) => {
      tree(ctx);
      mkdirSync(ctx.path(".hidden"));
      writeFileSync(ctx.path(".hidden/inner"), "");
      symlinkSync("folder", ctx.path("folder-link"));
    },
  );

const EXCEEDED = "filesystem walk limits exceed maximums: depth=64, directories=10000, entries=50000";
const TOO_MUCH = { code: -32600, message: EXCEEDED };
const TOO_LITTLE = { code: -32600, message: "filesystem walk limits must be greater than zero" };

const [HIDDEN, FILE, FOLDER] = ["directory /.hidden", "file /file", "directory /folder"];
const [HIDDEN_INNER, INNER] = ["file /.hidden/inner", "file /folder/inner"];
const walked = (...entries) => ({ entries, errors: [], truncated: false });
const truncated = (...entries) => ({ entries, errors: [], truncated: true });

export const walks = [
  walk(
    "all",
    "a walk lists files and folders level by level, sorted within a folder, without links",
    {},
    walked(HIDDEN, FILE, FOLDER, HIDDEN_INNER, INNER),
  ),
  walk(
    "links",
    "a walk lists links to folders if requested, and enters each folder once",
    { followDirectorySymlinks: true },
    walked(HIDDEN, FILE, FOLDER, "directory /folder-link", HIDDEN_INNER, INNER),
  ),
  walk(
    "hidden",
    "a walk does not enter hidden folders if requested",
    { pruneHiddenDirectories: true },
    walked(HIDDEN, FILE, FOLDER, INNER),
  ),
  walk("depth-0", "a walk of depth 0 lists only the folder itself", { maxDepth: 0 }, walked(HIDDEN, FILE, FOLDER)),
  walk(
    "some-entries",
    "a walk that reaches maxEntries says that there is more",
    { maxEntries: 2 },
    truncated(HIDDEN, FILE),
  ),
  walk(
    "some-directories",
    "a walk that reaches maxDirectories says that there is more",
    { maxDirectories: 2 },
    truncated(HIDDEN, FILE, FOLDER, HIDDEN_INNER),
  ),
  walk("depth-65", "a walk deeper than 64 is refused", { maxDepth: 65 }, TOO_MUCH),
  walk("too-many", "a walk of more than 50 000 entries is refused", { maxEntries: 50_001 }, TOO_MUCH),
  walk("entries-0", "a walk of no entries is refused", { maxEntries: 0 }, TOO_LITTLE),
  walk("directories-0", "a walk of no folders is refused", { maxDirectories: 0 }, TOO_LITTLE),
  walk(
    "no-links-option",
    "the field that says whether to follow links is required",
    { followDirectorySymlinks: undefined },
    { code: -32602, message: "missing field `followDirectorySymlinks`" },
  ),
];
