// Paths as this dialect writes them: absolute `file:` URIs. A native path, another scheme, a foreign host, a query or a
// NUL is refused by name.
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PATH_MAX_BYTES } from "../../protocol/index.ts";
import { CODE, CodexError, invalidParams } from "./codex-error.ts";
import type { Field } from "./decode.ts";
import { string } from "./decode.ts";
import { parseUrl } from "./parse-url.ts";

/** A URI that was written correctly; whether it names something here shows only when it is turned into a path. */
export interface PathUri {
  readonly text: string;
  readonly url: URL;
}

/** The exec-server's words for ENAMETOOLONG. */
const TOO_LONG = "Filename too long (os error 36)";

/** Parses a URI of a path. Throws -32602, and -32603 for one that is longer than any path. */
export function parsePathUri(text: string): PathUri {
  // Before it is parsed: escaped, the longest path has three characters a byte.
  if (text.length > PATH_MAX_BYTES * 4) throw new CodexError(CODE.failed, TOO_LONG);
  const url = parse(text);
  if (url.protocol !== "file:") throw invalidParams(`unsupported path URI scheme \`${url.protocol.slice(0, -1)}\``);
  if (url.search !== "" || /^[^#]*\?/.test(text)) throw invalidParams("query parameters are not allowed in path URIs");
  if (url.hash !== "" || text.includes("#")) throw invalidParams("fragments are not allowed in path URIs");
  if (url.pathname.includes("%00")) throw invalidParams(invalidHere(url));
  return { text, url };
}

/**
 * The path that a URI means on this machine. Throws -32600 when it is one of another machine or system, or not UTF-8,
 * which Node's strings for paths cannot hold.
 */
export function nativePath({ url }: PathUri): string {
  try {
    return process.platform === "win32" ? fileURLToPath(url) : posixPath(url);
  } catch {
    throw new CodexError(CODE.refused, invalidHere(url));
  }
}

/** The URI of an absolute path. */
export function toPathUri(path: string): string {
  if (process.platform === "win32") return pathToFileURL(path).href;
  // Escapes what the exec-server escapes, since clients compare URIs as text; Node's pathToFileURL escapes more.
  const escaped = encodeURI(resolve(path)).replace(/[?#]/g, encodeURIComponent);
  return `file://${escaped.replace(/%(?:5B|5D|5E|7C)/g, decodeURIComponent)}`;
}

/** A field of params that holds a path URI. */
export const pathUri: Field<PathUri> = { decode: (value) => parsePathUri(string.decode(value)) };

/** Not fileURLToPath: in the exec-server an encoded slash is a slash, and a `%` that escapes nothing is itself. */
function posixPath({ host, pathname }: URL): string {
  if (host !== "" || /^\/[a-z]:(?:\/|$)/i.test(pathname)) throw new Error("a path of another machine");
  return decodeURIComponent(pathname.replace(/%(?![0-9a-f]{2})/gi, "%25")).replace(/^\/+/, "/");
}

function invalidHere({ href }: URL): string {
  return `'${href}' is invalid on '${process.platform}'`;
}

function parse(text: string): URL {
  try {
    return parseUrl(text);
  } catch (error) {
    throw invalidParams(`invalid URI: ${(error as Error).message}`);
  }
}
