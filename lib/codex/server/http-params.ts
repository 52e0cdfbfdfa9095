// What an http/request asks for, checked in the order and the words of the exec-server before anything is sent.
import { invalidParams } from "../codex-error.ts";
import type { Decoded } from "../decode.ts";
import { base64, boolean, listOf, oneOf, optional, string, struct, u64, withDefault } from "../decode.ts";
import { parseUrl } from "../parse-url.ts";

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

/** Params as they decode. */
export const httpRequestParams = struct("HttpRequestParams", fields);

/** Decoded params. */
export type HttpRequestParams = Decoded<typeof fields>;

/** A header as it goes out. */
export interface RequestHeader {
  /** In lower case. */
  readonly name: string;
  /** One character for each byte. */
  readonly value: string;
  /** Not for another origin than the one it was written for. */
  readonly isPrivate: boolean;
}

/** A request that can be sent. */
export interface HttpCall {
  /** In upper case, which Node sends whatever was asked for. */
  readonly method: string;
  /** Without credentials: they are a header. */
  readonly url: URL;
  readonly headers: readonly RequestHeader[];
  readonly body: Buffer;
  readonly followsRedirects: boolean;
}

/** Characters of a method or of a header's name; RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;

/** What frames the message is ours to say: the body is known, and two statements about it would contradict each other. */
const FRAMING = new Set(["content-length", "transfer-encoding"]);

/** Who sends or is sent to; `host` is in it because it names the origin it was written for. */
const PRIVATE = new Set(["authorization", "cookie", "cookie2", "proxy-authorization", "www-authenticate", "host"]);

/** Checks what decoded. `env` is where headers with `valueEnvVar` find their value. Throws -32602. */
export function toHttpCall(params: HttpRequestParams, env: NodeJS.ProcessEnv): HttpCall {
  if (!TOKEN.test(params.method)) throw invalidParams("http/request method is invalid: invalid HTTP method");
  const method = params.method.toUpperCase();
  if (method === "CONNECT") {
    throw invalidParams("http/request method is invalid: CONNECT opens a tunnel, which this method cannot carry");
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
    throw invalidParams(`http/request url is invalid: ${(error as Error).message}`);
  }
  if (isHttp(url)) return url;
  throw invalidParams(`http/request only supports http and https URLs, got ${url.protocol.slice(0, -1)}`);
}

/** Whether it is a URL that can be requested. */
export function isHttp({ protocol }: URL): boolean {
  return protocol === "http:" || protocol === "https:";
}

type HeaderParam = HttpRequestParams["headers"][number];

function checkHeader({ name, value, valueEnvVar }: HeaderParam, env: NodeJS.ProcessEnv): RequestHeader {
  if (!TOKEN.test(name)) throw invalidParams("http/request header name is invalid: invalid HTTP header name");
  const whole = valueEnvVar === undefined ? value : value + readVariable(name, valueEnvVar, env);
  // biome-ignore lint/suspicious/noControlCharactersInRegex: these are what a header must not hold
  if (/[\x00-\x08\x0a-\x1f\x7f]/.test(whole)) {
    throw invalidParams(`http/request header value is invalid for ${name}: failed to parse header value`);
  }
  const lowerCase = name.toLowerCase();
  return {
    name: lowerCase,
    value: Buffer.from(whole).toString("latin1"),
    // A variable of this host is taken for a secret.
    isPrivate: PRIVATE.has(lowerCase) || valueEnvVar !== undefined,
  };
}

/** The value of a variable of this process; it goes behind the literal value, as in `Bearer ` and a token. */
function readVariable(header: string, variable: string, env: NodeJS.ProcessEnv): string {
  const value = Object.hasOwn(env, variable) ? env[variable] : undefined;
  if (value) return value;
  const what = value === undefined ? "executor environment variable" : "a non-empty executor environment variable";
  throw invalidParams(`http/request header ${header} requires ${what} ${variable}`);
}

/** Removes user and password from a URL and returns them as the value of a header. */
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
