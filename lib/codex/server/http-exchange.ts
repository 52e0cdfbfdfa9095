// One request over HTTP/1.1 with what follows from its redirects. Over node:http and not fetch, which ends a stream that is
// silent for five minutes, sends no body with GET, joins repeated headers and refuses some headers, methods and ports.
import type { IncomingMessage } from "node:http";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { CODE, CodexError } from "../codex-error.ts";
import type { HttpCall, RequestHeader } from "./http-params.ts";
import { isHttp } from "./http-params.ts";

/** A response whose body is still to be read. */
export interface HttpAnswer {
  readonly status: number;
  /** In the order of arrival, repeated names repeated, names in lower case. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Ends with an error when the response breaks off. */
  readonly body: Readable;
}

/** As the exec-server: whoever redirects more often goes in a circle. */
const MAX_REDIRECTS = 10;

/** Bytes of headers of a response; Node's 16 KiB is less than cookies and policies of real services need. */
const MAX_HEADER_BYTES = 262_144;

/** Bytes that a decompressor hands on at once: what a socket does. */
const DECODED_CHUNK_BYTES = 65_536;

/** Methods that have no body unless one is given. */
const BODILESS = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]);

/** Sends a request. Rejects with -32603; aborting `signal` ends it at any time, the body included. */
export async function exchange(call: HttpCall, signal: AbortSignal): Promise<HttpAnswer> {
  let hop = call;
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(hop, signal);
    const target = call.followsRedirects ? redirectTarget(hop.url, response) : undefined;
    if (!target) return toAnswer(hop.method, response);
    response.destroy();
    if (redirects === MAX_REDIRECTS) throw failed("too many redirects");
    if (!isHttp(target)) throw failed(`redirect target uses unsupported URL scheme: ${target.protocol.slice(0, -1)}`);
    hop = redirected(hop, response.statusCode, target);
  }
}

function failed(what: string): CodexError {
  return new CodexError(CODE.failed, `http/request failed: ${what}`);
}

function send({ method, url, headers, body }: HttpCall, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise<IncomingMessage>((resolve, reject) => {
    // A connection for each request, as in the exec-server: none can have been closed by the peer in the meantime.
    const options = {
      method,
      agent: false,
      maxHeaderSize: MAX_HEADER_BYTES,
      headers: toLines(method, url, headers, body),
    };
    const request = url.protocol === "https:" ? requestHttps(url, options) : requestHttp(url, options);
    const stop = () => request.destroy();
    signal.addEventListener("abort", stop);
    request.on("close", () => signal.removeEventListener("abort", stop));
    request.on("response", resolve);
    request.on("error", reject);
    // What comes after a change of protocol is no body.
    request.on("upgrade", (response, socket) => {
      socket.destroy();
      resolve(response);
    });
    if (signal.aborted) stop();
    request.end(body.length > 0 ? body : undefined);
  }).catch((error: unknown) => {
    throw failed(`error sending request for url (${url.href}): ${reasonOf(error, signal)}`);
  });
}

/** Why a request or its body came to nothing. */
export function reasonOf(error: unknown, signal: AbortSignal): string {
  const cause: unknown = signal.aborted ? signal.reason : error;
  // With several addresses each has failed for its own reason, and the whole has no message.
  const { errors, message } = Object(cause) as Partial<AggregateError>;
  return message || (errors?.[0] as Error | undefined)?.message || String(cause);
}

/** Names and values in turn, which is how Node sends repeated headers apart. */
function toLines(method: string, url: URL, headers: readonly RequestHeader[], body: Buffer): string[] {
  const has = (name: string) => headers.some((header) => header.name === name);
  const lines = headers.flatMap(({ name, value }) => [name, value]);
  if (!has("accept")) lines.push("accept", "*/*");
  if (!has("accept-encoding")) lines.push("accept-encoding", "gzip");
  if (!has("host")) lines.push("host", url.host);
  // Where a body is usual its absence is said, or Node would send an empty one in chunks.
  if (body.length > 0 || !BODILESS.has(method)) lines.push("content-length", String(body.length));
  return lines;
}

/** Where a response sends us; undefined when nowhere, or to what is no URL. */
function redirectTarget(from: URL, { statusCode = 0, headers: { location } }: IncomingMessage): URL | undefined {
  if (location === undefined || ![301, 302, 303, 307, 308].includes(statusCode)) return undefined;
  try {
    const target = new URL(toText(location), from);
    target.username = "";
    target.password = "";
    return target;
  } catch {
    return undefined;
  }
}

/** The request that a redirect asks for; RFC 9110, 15.4. Another origin gets none of what was written for this one. */
function redirected(call: HttpCall, status: number | undefined, url: URL): HttpCall {
  const isSameOrigin = url.origin === call.url.origin;
  const becomesGet =
    status === 303 ? call.method !== "HEAD" : call.method === "POST" && (status === 301 || status === 302);
  const headers = call.headers.filter(
    ({ name, isPrivate }) =>
      name !== "referer" && (isSameOrigin || !isPrivate) && !(becomesGet && name.startsWith("content-")),
  );
  if (call.url.protocol === "http:" || url.protocol === "https:") {
    const value = isSameOrigin ? call.url.href.replace(/#.*/, "") : `${call.url.origin}/`;
    headers.push({ name: "referer", value, isPrivate: false });
  }
  return { ...call, url, headers, ...(becomesGet && { method: "GET", body: Buffer.alloc(0) }) };
}

/** A body that is gzip is decoded, as in the exec-server, and what described its coded form left out. */
function toAnswer(method: string, response: IncomingMessage): HttpAnswer {
  const { statusCode: status = 0, rawHeaders } = response;
  const headers = rawHeaders.flatMap((name, at) =>
    at % 2 === 0 ? [{ name: name.toLowerCase(), value: toText(rawHeaders[at + 1]!) }] : [],
  );
  const isGzip = response.headers["content-encoding"]?.toLowerCase() === "gzip";
  const hasBody = method !== "HEAD" && response.headers["content-length"] !== "0";
  const body = isGzip && hasBody && status !== 204 && status !== 304 ? decoded(response) : response;
  if (!isGzip) return { status, headers, body };
  const kept = headers.filter(({ name }) => name !== "content-encoding" && name !== "content-length");
  return { status, headers: kept, body };
}

function decoded(response: IncomingMessage): Readable {
  const gunzip = createGunzip({ chunkSize: DECODED_CHUNK_BYTES });
  pipeline(response, gunzip, () => undefined);
  return gunzip;
}

/** Node takes the bytes of a header for Latin-1; most are ASCII, and the rest UTF-8 if they can be. */
function toText(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString();
  return text.includes("\ufffd") ? value : text;
}
