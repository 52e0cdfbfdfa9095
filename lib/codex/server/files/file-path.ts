// Paths of the fs/* methods: `file:` URIs on the wire, bytes for the operations, so that names that are not UTF-8 work both
// ways.
import { isUtf8 } from "node:buffer";
import { constants } from "node:os";
import { posix } from "node:path";
import { PATH_MAX_BYTES } from "../../../../protocol/index.ts";
import type { FilePath } from "../../../files/file-path.ts";
import { nativePath, type PathUri, toPathUri } from "../../path-uri.ts";

/**
 * The local path of a URI, without `.`, `..` and repeated slashes. Throws -32600 for a path of another machine, ENAMETOOLONG
 * above PATH_MAX.
 */
export function filePath(uri: PathUri): FilePath {
  const bytes = bytesOf(uri.url.pathname);
  // No operation could use it, and some operations would first look at every directory along the way.
  if (bytes.length > PATH_MAX_BYTES) throw tooLong();
  const isText = process.platform === "win32" || uri.url.host !== "" || isUtf8(bytes);
  const path = isText ? Buffer.from(nativePath(uri)) : bytes;
  if (process.platform === "win32") return path;
  const plain = posix.normalize(path.toString("latin1"));
  return Buffer.from(plain === "/" ? plain : plain.replace(/\/$/, ""), "latin1");
}

/** The URI of a local path. */
export function fileUri(path: FilePath): string {
  if (isUtf8(path)) return toPathUri(path.toString());
  const escaped = path
    .toString("latin1")
    .replace(/[^!$&-;=@-[\]^_a-z|~]/g, (byte) => `%${byte.charCodeAt(0).toString(16).toUpperCase().padStart(2, "0")}`);
  return `file://${escaped}`;
}

function tooLong(): Error {
  const code = "ENAMETOOLONG";
  return Object.assign(new Error(`${code}: name too long`), { code, errno: -constants.errno[code] });
}

function bytesOf(pathname: string): Buffer {
  const text = pathname.replace(/%([0-9a-f]{2})/gi, (_, hex: string) => String.fromCharCode(Number.parseInt(hex, 16)));
  return Buffer.from(text, "latin1");
}
