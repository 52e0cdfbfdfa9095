// The family `http`: requests that this host sends for a client. A body comes whole with the answer, or in deltas behind it.
import { MAX_TIMER_MS } from "../../../protocol/index.ts";
import { CODE, CodexError, invalidParams } from "../codex-error.ts";
import type { HttpAnswer } from "./http-exchange.ts";
import { exchange, reasonOf } from "./http-exchange.ts";
import type { HttpCall, HttpRequestParams } from "./http-params.ts";
import { httpRequestParams, toHttpCall } from "./http-params.ts";
import type { MethodScope, Methods } from "./method.ts";
import { Announcement, method, RawResult } from "./method.ts";

/**
 * Bytes of a body that comes whole. As base64 they are 341 MiB, which is still less than the longest string of a client
 * in JavaScript (512 MiB); what is longer can be streamed.
 */
export const MAX_BUFFERED_BODY_BYTES = 268_435_456;

/** The methods for one connection. */
export function httpMethods(scope: MethodScope, maxBufferedBodyBytes = MAX_BUFFERED_BODY_BYTES): Methods {
  const requests = new HttpRequests(scope, maxBufferedBodyBytes);
  return { "http/request": method("http", httpRequestParams, (params) => requests.perform(params)) };
}

/** What is in flight on one connection. */
class HttpRequests {
  readonly #scope: MethodScope;
  readonly #maxBodyBytes: number;
  /** Those that end with the connection. One listener for all: each on its own would be a leak to Node. */
  readonly #open = new Set<AbortController>();
  /** The ids of streams; ids of whole answers need not differ. */
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
      throw invalidParams(`http/request streamResponse requestId \`${requestId}\` is already active`);
    }
    this.#streams.add(requestId);
    const { signal, close } = this.#begin(timeoutMs);
    const end = () => {
      close();
      this.#streams.delete(requestId);
    };
    try {
      const answer = await exchange(call, signal);
      const result = { status: answer.status, headers: answer.headers, bodyBase64: "" };
      return new Announcement(result, () => void this.#tellBody(requestId, answer, signal, end));
    } catch (error) {
      end();
      throw error;
    }
  }

  /** Never rejects: what goes wrong is told in the last delta. */
  async #tellBody(requestId: string, { body }: HttpAnswer, signal: AbortSignal, end: () => void): Promise<void> {
    let seq = 0;
    const tell = (deltaBase64: string, done: boolean, error: string | null) => {
      seq += 1;
      this.#scope.notify("http/request/bodyDelta", { requestId, seq, deltaBase64, done, error });
    };
    let failure: string | null = null;
    try {
      for await (const chunk of body as AsyncIterable<Buffer>) {
        tell(chunk.toString("base64"), false, null);
        await this.#scope.drained();
      }
    } catch (error) {
      failure = `error decoding response body: ${reasonOf(error, signal)}`;
    }
    // Before the last delta, after which the client may use the id again.
    end();
    if (!this.#scope.signal.aborted) tell("", true, failure);
  }

  /** The timeout covers everything, the body too. */
  #begin(timeoutMs: number | undefined): { readonly signal: AbortSignal; close(): void } {
    const controller = new AbortController();
    this.#open.add(controller);
    if (this.#scope.signal.aborted) controller.abort(new Error("the connection is over"));
    const timeOut = () => controller.abort(new Error(`timed out after ${timeoutMs} ms`));
    // A timer takes a millisecond at least, in which a server nearby may have answered.
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

/** Encoded while it arrives, and in pieces: as one string it would be held several times at once. */
async function toWholeResult(answer: HttpAnswer, signal: AbortSignal, maxBytes: number): Promise<RawResult> {
  const { status, headers, body } = answer;
  const head = JSON.stringify({ status, headers, bodyBase64: "" });
  const parts: Uint8Array[] = [Buffer.from(head.slice(0, -2))];
  // Only groups of three bytes can be encoded one after the other.
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
