// `http/request`: requests that this host sends for a client. The body is part of the reply, or follows it in deltas.
import { MAX_TIMER_MS } from "../../../../protocol/index.ts";
import { CODE, CodexError, wrongParams } from "../../codex-error.ts";
import type { MethodScope, MethodTable } from "../method.ts";
import { method, RawResult, ReplyThen } from "../method.ts";
import type { HttpResponse } from "./http-exchange.ts";
import { exchange, reasonOf } from "./http-exchange.ts";
import type { HttpCall, HttpRequestParams } from "./http-params.ts";
import { httpRequestParams, toHttpCall } from "./http-params.ts";

/**
 * Largest body, in bytes, that is part of a reply. In base64 it takes 341 MiB, still below the longest string of a JavaScript
 * client (512 MiB). Longer bodies can be streamed.
 */
export const MAX_BUFFERED_BODY_BYTES = 268_435_456;

/** The `http` methods of one connection. */
export function httpMethods(scope: MethodScope, maxBufferedBodyBytes = MAX_BUFFERED_BODY_BYTES): MethodTable {
  const requests = new HttpRequests(scope, maxBufferedBodyBytes);
  return { "http/request": method("http", httpRequestParams, (params) => requests.perform(params)) };
}

/** The requests in flight on one connection. */
class HttpRequests {
  readonly #scope: MethodScope;
  readonly #maxBodyBytes: number;
  /** Requests to abort with the connection. One listener serves all: with one per request, Node would warn of a leak. */
  readonly #open = new Set<AbortController>();
  /** Ids of streamed requests; requests with a whole reply may share ids. */
  readonly #streams = new Set<string>();

  constructor(scope: MethodScope, maxBodyBytes: number) {
    this.#scope = scope;
    this.#maxBodyBytes = maxBodyBytes;
    scope.signal.addEventListener("abort", () => {
      for (const each of this.#open) each.abort(new Error("the connection is over"));
    });
  }

  async perform(params: HttpRequestParams): Promise<unknown> {
    const call = toHttpCall(params, process.env);
    if (params.streamResponse) return this.#stream(params, call);
    const { signal, close } = this.#begin(params.timeoutMs);
    try {
      return await toWholeResult(await exchange(call, signal), signal, this.#maxBodyBytes);
    } finally {
      close();
    }
  }

  async #stream({ requestId, timeoutMs }: HttpRequestParams, call: HttpCall): Promise<unknown> {
    if (this.#streams.has(requestId)) {
      throw wrongParams(`http/request streamResponse requestId \`${requestId}\` is already active`);
    }
    this.#streams.add(requestId);
    const { signal, close } = this.#begin(timeoutMs);
    const end = () => {
      close();
      this.#streams.delete(requestId);
    };
    try {
      const response = await exchange(call, signal);
      const result = { status: response.status, headers: response.headers, bodyBase64: "" };
      return new ReplyThen(result, () => void this.#sendBody(requestId, response, signal, end));
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Never rejects: a failure is reported in the last delta. */
  async #sendBody(requestId: string, { body }: HttpResponse, signal: AbortSignal, end: () => void): Promise<void> {
    let seq = 0;
    const sendDelta = (deltaBase64: string, done: boolean, error: string | null) => {
      seq += 1;
      this.#scope.notify("http/request/bodyDelta", { requestId, seq, deltaBase64, done, error });
    };
    let failure: string | null = null;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        sendDelta(chunk.toString("base64"), false, null);
        await this.#scope.drained();
      }
    } catch (error) {
      failure = `error decoding response body: ${reasonOf(error, signal)}`;
    }
    // Before the last delta, after which the client may reuse the id.
    end();
    if (!this.#scope.signal.aborted) sendDelta("", true, failure);
  }

  /** The timeout covers everything, including the body. */
  #begin(timeoutMs: number | undefined): { readonly signal: AbortSignal; close(): void } {
    const controller = new AbortController();
    this.#open.add(controller);
    if (this.#scope.signal.aborted) controller.abort(new Error("the connection is over"));
    const timeOut = () => controller.abort(new Error(`timed out after ${timeoutMs} ms`));
    // The shortest timer is one millisecond, in which a nearby server may already have replied.
    if (timeoutMs === 0) timeOut();
    const timer = timeoutMs !== undefined && timeoutMs <= MAX_TIMER_MS ? setTimeout(timeOut, timeoutMs) : undefined;
    controller.signal.addEventListener("abort", () => clearTimeout(timer));
    return {
      signal: controller.signal,
      close: () => {
        clearTimeout(timer);
        this.#open.delete(controller);
      },
    };
  }
}

/** Encodes the body piece by piece as it arrives: as a single string it would be in memory several times at once. */
async function toWholeResult(response: HttpResponse, signal: AbortSignal, maxBytes: number): Promise<RawResult> {
  const { status, headers, body } = response;
  const head = JSON.stringify({ status, headers, bodyBase64: "" });
  const parts: Uint8Array[] = [Buffer.from(head.slice(0, -2))];
  // Base64 can be concatenated only at multiples of three bytes.
  let rest: Buffer = Buffer.alloc(0);
  let size = 0;
  try {
    for await (const chunk of body as AsyncIterable<Buffer>) {
      size += chunk.length;
      if (size > maxBytes) break;
      const bytes = Buffer.concat([rest, chunk]);
      const whole = bytes.length - (bytes.length % 3);
      parts.push(Buffer.from(bytes.toString("base64", 0, whole), "latin1"));
      rest = bytes.subarray(whole);
    }
  } catch (error) {
    const reason = `error decoding response body: ${reasonOf(error, signal)}`;
    throw new CodexError(CODE.failed, `failed to read http/request response body: ${reason}`);
  }
  if (size > maxBytes) {
    const limit = `limit is ${maxBytes} bytes, use streamResponse`;
    throw new CodexError(CODE.refused, `http/request response body is too large: ${limit}`);
  }
  parts.push(Buffer.from(`${rest.toString("base64")}"}`));
  return new RawResult(parts);
}
