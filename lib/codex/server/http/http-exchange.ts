// One HTTP/1.1 request, including its redirects. Uses node:http rather than fetch, which aborts a stream after five silent
// minutes, sends no body with GET, joins repeated headers and refuses some headers, methods and ports.
import type { IncomingMessage } from "node:http";
import { request as requestHttp } from "node:http";
import { request as requestHttps } from "node:https";
import type { Readable } from "node:stream";
import { pipeline } from "node:stream";
import { createGunzip } from "node:zlib";
import { CODE, CodexError } from "../../codex-error.ts";
import type { HttpCall, RequestHeader } from "./http-params.ts";
import { isHttp } from "./http-params.ts";

/** A response whose body has not been read yet. */
export interface HttpResponse {
  readonly status: number;
  /** In order of arrival; names in lower case, repeated names kept apart. */
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  /** Fails when the response is cut off. */
  readonly body: Readable;
}

/** The exec-server's limit; a longer chain of redirects is treated as a loop. */
const MAX_REDIRECTS = 10;

/** Bytes of response headers. Node's default of 16 KiB is too small for the cookies and policies of real services. */
const MAX_HEADER_BYTES = 262_144;

/** Bytes per chunk of decompressed output: as much as a socket delivers at once. */
const DECODED_CHUNK_BYTES = 65_536;

/** Methods without a body unless one is given. */
const BODILESS = new Set(["GET", "HEAD", "DELETE", "OPTIONS", "TRACE"]);

/** Sends a request and follows its redirects. Rejects with -32603. Aborting `signal` ends it at any time, the body included. */
export async function exchange(call: HttpCall, signal: AbortSignal): Promise<HttpResponse> {
  let hop = call;
  for (let redirects = 0; ; redirects += 1) {
    const response = await send(hop, signal);
    const target = call.followsRedirects ? redirectTarget(hop.url, response) : undefined;
    if (!target) return toResponse(hop.method, response);
    response.destroy();
    if (redirects === MAX_REDIRECTS) throw failed("too many redirects");
    if (!isHttp(target)) throw failed(`redirect target uses unsupported URL scheme: ${target.protocol.slice(0, -1)}`);
    hop = redirected(hop, response.statusCode, target);
  }
}

function failed(reason: string): CodexError {
  return new CodexError(CODE.failed, `http/request failed: ${reason}`);
}

function send({ method, url, headers, body }: HttpCall, signal: AbortSignal): Promise<IncomingMessage> {
  return new Promise<IncomingMessage>((resolve, reject) => {
    // A new connection per request, as in the exec-server: a reused one might have been closed by the peer in the meantime.
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
    // Data after a protocol upgrade is not a body.
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

/** Why a request or its body failed. */
export function reasonOf(error: unknown, signal: AbortSignal): string {
  const cause: unknown = signal.aborted ? signal.reason : error;
  // If several addresses were tried, each has its own error and the AggregateError has no message.
  const { errors, message } = Object(cause) as Partial<AggregateError>;
  return message || (errors?.[0] as Error | undefined)?.message || String(cause);
}

/** Alternating names and values: the form in which Node keeps repeated headers separate. */
function toLines(method: string, url: URL, headers: readonly RequestHeader[], body: Buffer): string[] {
  const has = (name: string) => headers.some((header) => header.name === name);
  const lines = headers.flatMap(({ name, value }) => [name, value]);
  if (!has("accept")) lines.push("accept", "*/*");
  if (!has("accept-encoding")) lines.push("accept-encoding", "gzip");
  if (!has("host")) lines.push("host", url.host);
  // For methods that usually have a body, an empty one is declared; otherwise Node would send it as an empty chunked body.
  if (body.length > 0 || !BODILESS.has(method)) lines.push("content-length", String(body.length));
  return lines;
}

/** The target of a redirect; undefined when the response is not a redirect, or its target is not a URL. */
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

/** The request that follows a redirect (RFC 9110, section 15.4). Private headers are not sent to another origin. */
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

/** A gzip body is decoded, as in the exec-server, and the headers that describe the encoded form are removed. */
function toResponse(method: string, response: IncomingMessage): HttpResponse {
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

/** Node decodes header bytes as Latin-1. Most are ASCII; the others are decoded as UTF-8 where they are valid UTF-8. */
function toText(value: string): string {
  const bytes = Buffer.from(value, "latin1");
  const text = bytes.toString();
  return text.includes("\ufffd") ? value : text;
}
