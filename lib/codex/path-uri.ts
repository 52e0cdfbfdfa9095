// Paths in this dialect: absolute `file:` URIs. A native path, another scheme, a foreign host, a query or a NUL is refused with
// a message that names the problem.
import { resolve } from "node:path";
import { fileURLToPath, pathToFileURL } from "node:url";
import { PATH_MAX_BYTES } from "../../protocol/index.ts";
import { CODE, CodexError, wrongParams } from "./codex-error.ts";
import type { Field } from "./decode.ts";
import { string } from "./decode.ts";
import { parseUrl } from "./parse-url.ts";

/** A well-formed path URI; whether it is a path of this machine shows only when it is converted to one. */
export interface PathUri {
  readonly text: string;
  readonly url: URL;
}

/** The exec-server's message for ENAMETOOLONG. */
const TOO_LONG = "Filename too long (os error 36)";

/** Parses a path URI. Throws -32602, or -32603 for a URI longer than any path. */
export function parsePathUri(text: string): PathUri {
  // Before parsing: the longest path, fully escaped, has three characters per byte.
  if (text.length > PATH_MAX_BYTES * 4) throw new CodexError(CODE.failed, TOO_LONG);
  const url = parse(text);
  if (url.protocol !== "file:") throw wrongParams(`unsupported path URI scheme \`${url.protocol.slice(0, -1)}\``);
  if (url.search !== "" || /^[^#]*\?/.test(text)) throw wrongParams("query parameters are not allowed in path URIs");
  if (url.hash !== "" || text.includes("#")) throw wrongParams("fragments are not allowed in path URIs");
  if (url.pathname.includes("%00")) throw wrongParams(invalidHere(url));
  return { text, url };
}

/**
 * The local path of a URI. Throws -32600 for a path of another machine or system, or one that is not UTF-8, which Node's path
 * strings cannot hold.
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
  // Escapes the same characters as the exec-server, since clients compare URIs as text; Node's pathToFileURL escapes more.
  const escaped = encodeURI(resolve(path)).replace(/[?#]/g, encodeURIComponent);
  return `file://${escaped.replace(/%(?:5B|5D|5E|7C)/g, decodeURIComponent)}`;
}

/** A field of params that holds a path URI. */
export const pathUri: Field<PathUri> = { decode: (value) => parsePathUri(string.decode(value)) };

/** Not fileURLToPath: the exec-server decodes an encoded slash to a slash, and keeps a `%` that escapes nothing. */
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
    throw wrongParams(`invalid URI: ${(error as Error).message}`);
  }
}
