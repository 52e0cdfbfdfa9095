// Params of `http/request`, checked in the order and with the messages of the exec-server before anything is sent.
import { wrongParams } from "../../codex-error.ts";
import type { Decoded } from "../../decode.ts";
import { base64, boolean, listOf, oneOf, optional, string, struct, u64, withDefault } from "../../decode.ts";
import { parseUrl } from "../../parse-url.ts";

const fields = {
  method: string,
  url: string,
  requestId: string,
  headers: withDefault(
    listOf(struct("HttpHeader", { name: string, value: string, valueEnvVar: optional(string) })),
    [],
  ),
  bodyBase64: optional(base64),
  timeoutMs: optional(u64),
  redirectPolicy: withDefault(oneOf("follow", "stop"), "follow"),
  streamResponse: withDefault(boolean, false),
};

/** How the params are decoded. */
export const httpRequestParams = struct("HttpRequestParams", fields);

/** Decoded params. */
export type HttpRequestParams = Decoded<typeof fields>;

/** A header as it is sent. */
export interface RequestHeader {
  /** In lower case. */
  readonly name: string;
  /** One character per byte (Latin-1). */
  readonly value: string;
  /** Must not be sent to another origin after a redirect. */
  readonly isPrivate: boolean;
}

/** A checked request. */
export interface HttpCall {
  /** In upper case; Node converts it anyway. */
  readonly method: string;
  /** Without credentials: they become a header. */
  readonly url: URL;
  readonly headers: readonly RequestHeader[];
  readonly body: Buffer;
  readonly followsRedirects: boolean;
}

/** Characters allowed in a method or header name (RFC 9110, section 5.6.2). */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** Headers that frame the message. We set them ourselves: the body is known, and a second statement could contradict it. */
const FRAMING = new Set(["content-length", "transfer-encoding"]);

/** Headers that identify the sender or the receiver; `host` names the origin that it was written for. */
const PRIVATE = new Set(["authorization", "cookie", "cookie2", "proxy-authorization", "www-authenticate", "host"]);

/** Checks decoded params. Headers with `valueEnvVar` take their value from `env`. Throws -32602. */
export function toHttpCall(params: HttpRequestParams, env: NodeJS.ProcessEnv): HttpCall {
  if (!TOKEN.test(params.method)) throw wrongParams("http/request method is invalid: invalid HTTP method");
  const method = params.method.toUpperCase();
  if (method === "CONNECT") {
    throw wrongParams("http/request method is invalid: CONNECT opens a tunnel, which this method cannot carry");
  }
  const url = checkUrl(params.url);
  const headers = params.headers.map((header) => checkHeader(header, env)).filter(({ name }) => !FRAMING.has(name));
  const authorization = takeCredentials(url);
  if (authorization !== undefined && !headers.some(({ name }) => name === "authorization")) {
    headers.push({ name: "authorization", value: authorization, isPrivate: true });
  }
  const body = params.bodyBase64 ?? Buffer.alloc(0);
  return { method, url, headers, body, followsRedirects: params.redirectPolicy === "follow" };
}

function checkUrl(text: string): URL {
  let url: URL;
  try {
    url = parseUrl(text);
  } catch (error) {
    throw wrongParams(`http/request url is invalid: ${(error as Error).message}`);
  }
  if (isHttp(url)) return url;
  throw wrongParams(`http/request only supports http and https URLs, got ${url.protocol.slice(0, -1)}`);
}

/** Whether a URL can be requested. */
export function isHttp({ protocol }: URL): boolean {
  return protocol === "http:" || protocol === "https:";
}

type HeaderParam = HttpRequestParams["headers"][number];

function checkHeader({ name, value, valueEnvVar }: HeaderParam, env: NodeJS.ProcessEnv): RequestHeader {
  if (!TOKEN.test(name)) throw wrongParams("http/request header name is invalid: invalid HTTP header name");
  const whole = valueEnvVar === undefined ? value : value + readVariable(name, valueEnvVar, env);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a header must not hold
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(whole)) {
    throw wrongParams(`http/request header value is invalid for ${name}: failed to parse header value`);
  }
  const lowerCase = name.toLowerCase();
  return {
    name: lowerCase,
    value: Buffer.from(whole).toString("latin1"),
    // A variable of this host is treated as a secret.
    isPrivate: PRIVATE.has(lowerCase) || valueEnvVar !== undefined,
  };
}

/** The value of an environment variable; it is appended to the literal value, as in `Bearer ` plus a token. */
function readVariable(header: string, variable: string, env: NodeJS.ProcessEnv): string {
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (value) return value;
  const what = value === undefined ? "executor environment variable" : "a non-empty executor environment variable";
  throw wrongParams(`http/request header ${header} requires ${what} ${variable}`);
}

/** Removes user and password from a URL and returns them as the value of an `authorization` header. */
function takeCredentials(url: URL): string | undefined {
  const { username, password } = url;
  if (username === "" && password === "") return undefined;
  url.username = "";
  url.password = "";
  return `Basic ${Buffer.from(`${decode(username)}:${decode(password)}`).toString("base64")}`;
}

function decode(text: string): string {
  try {
    return decodeURIComponent(text);
  } catch {
    return text;
  }
}
