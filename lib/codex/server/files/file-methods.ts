// The `fs/` methods of one connection. Its open files and its watch are closed with the connection.
import { copy } from "../../../files/copy.ts";
import { createDirectory, remove } from "../../../files/directories.ts";
import type { FilePath } from "../../../files/file-path.ts";
import { readMetadata, realPath } from "../../../files/metadata.ts";
import { OpenFiles } from "../../../files/open-files.ts";
import { writeWhole } from "../../../files/read-write.ts";
import {
  anything,
  base64,
  boolean,
  type Decoded,
  type Field,
  listOf,
  oneOf,
  optional,
  string,
  struct,
  u64,
  withDefault,
} from "../../decode.ts";
import { type PathUri, pathUri } from "../../path-uri.ts";
import { type Method, type MethodScope, type MethodTable, method, ReplyThen } from "../method.ts";
import { filePolicyOf, sandboxUnavailable } from "../sandbox-request.ts";
import { checkBlock, decodeContents, readDirectory, readFile, walkTree } from "./file-answers.ts";
import { toFileError } from "./file-errors.ts";
import { filePath, fileUri } from "./file-path.ts";
import { FileWatch } from "./file-watch.ts";

/** Open files per connection, so that one client cannot use up all descriptors. */
const MAX_OPEN_FILES = 128;

const WALK_OPTIONS = struct("WalkOptions", {
  maxDepth: u64,
  maxDirectories: u64,
  maxEntries: u64,
  followDirectorySymlinks: boolean,
  pruneHiddenDirectories: withDefault(boolean, false),
});

/** The file methods of one connection. */
export function fileMethods({ notify, signal }: Pick<MethodScope, "notify" | "signal">): MethodTable {
  const files = new OpenFiles({ maxOpen: MAX_OPEN_FILES });
  const watch = new FileWatch((watchId) => notify("fs/missingChanged", { watchId }));
  const end = () => {
    watch.close();
    void files.closeAll();
  };
  signal.addEventListener("abort", end, { once: true });

  return {
    "fs/readFile": onPath("FsReadFileParams", { followSymlinks: flag(true) }, (path, { followSymlinks }) =>
      readFile(path, followSymlinks),
    ),
    "fs/writeFile": onPath(
      "FsWriteFileParams",
      { dataBase64: string, followSymlinks: flag(true) },
      (path, { dataBase64, followSymlinks }) => writeWhole(path, decodeContents(dataBase64), { followSymlinks }),
    ),
    "fs/getMetadata": onPath("FsGetMetadataParams", { followSymlinks: flag(true) }, (path, { followSymlinks }) =>
      readMetadata(path, { followSymlinks }),
    ),
    "fs/canonicalize": onPath("FsCanonicalizeParams", {}, async (path) => ({ path: fileUri(await realPath(path)) })),
    "fs/readDirectory": onPath("FsReadDirectoryParams", {}, readDirectory),
    "fs/walk": onPath("FsWalkParams", { options: WALK_OPTIONS }, (path, { options }) => walkTree(path, options)),
    "fs/createDirectory": onPath("FsCreateDirectoryParams", { recursive: flag(true) }, (path, { recursive }) =>
      createDirectory(path, { recursive }),
    ),
    "fs/remove": onPath("FsRemoveParams", { recursive: flag(true), force: flag(true) }, (path, { recursive, force }) =>
      remove(path, { recursive, force }),
    ),
    "fs/copy": fileMethod(
      "FsCopyParams",
      { sourcePath: pathUri, destinationPath: pathUri, recursive: boolean, sandbox: anything },
      ({ sourcePath, destinationPath, recursive, sandbox }) => {
        refuseSandbox(sandbox);
        return copy(filePath(sourcePath), filePath(destinationPath), { recursive });
      },
    ),
    "fs/open": onPath(
      "FsOpenParams",
      { handleId: string, mode: withDefault(oneOf("read", "replace"), "read") },
      async (path, { handleId, mode }) => {
        await files.open(handleId, path, mode);
        if (signal.aborted) end();
        return { handleId };
      },
    ),
    "fs/readBlock": fileMethod(
      "FsReadBlockParams",
      { handleId: string, offset: u64, len: u64 },
      async ({ handleId, offset, len }) => {
        checkBlock("read", len);
        const { bytes, eof } = await files.read(handleId, offset, len);
        return { chunk: bytes.toString("base64"), eof };
      },
    ),
    "fs/writeBlock": fileMethod(
      "FsWriteBlockParams",
      { handleId: string, offset: u64, chunk: base64 },
      ({ handleId, offset, chunk }) => {
        checkBlock("write", chunk.length);
        return files.write(handleId, offset, chunk);
      },
    ),
    "fs/close": fileMethod("FsCloseParams", { handleId: string }, ({ handleId }) => files.close(handleId)),
    "fs/watchMissing": fileMethod(
      "FsWatchMissingParams",
      { watchId: u64, missing: listOf(pathUri), present: optional(pathUri), sandbox: anything },
      async ({ watchId, missing, present, sandbox }) => {
        refuseSandbox(sandbox);
        const pending = await watch.replace(watchId, missing, present);
        if (signal.aborted) end();
        return pending ? new ReplyThen({ watching: true }, pending.begin) : { watching: false };
      },
    ),
  };
}

/** A method whose failures are reported as file errors. */
function fileMethod<F extends Readonly<Record<string, Field<unknown>>>>(
  name: string,
  fields: F,
  handle: (params: Decoded<F>) => unknown,
): Method {
  return method("filesystem", struct(name, fields), async (params) => {
    try {
      return await handle(params);
    } catch (error) {
      throw toFileError(error);
    }
  });
}

/** A method that operates on one path. */
function onPath<F extends Readonly<Record<string, Field<unknown>>>>(
  name: string,
  fields: F,
  handle: (path: FilePath, params: Decoded<F>) => unknown,
): Method {
  return fileMethod(name, { path: pathUri, ...fields, sandbox: anything }, (params) => {
    const { path, sandbox } = params as { path: PathUri; sandbox: unknown };
    refuseSandbox(sandbox);
    return handle(filePath(path), params as Decoded<F>);
  });
}

/** A boolean that may be absent or null. */
function flag(byDefault: boolean): Field<boolean> {
  const { decode } = optional(boolean);
  return { decode: (value) => decode(value) ?? byDefault, missing: () => byDefault };
}

/** These methods act with our own rights: a request with a sandbox is performed by `sandboxed-methods.ts`. */
function refuseSandbox(sandbox: unknown): void {
  if (filePolicyOf(sandbox)) throw sandboxUnavailable("this file method cannot be performed in a sandbox");
}
