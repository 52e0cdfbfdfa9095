// The set-up of the specs of http/request: servers on loopback, and a connection that keeps its notifications.
import { EventEmitter, on } from "node:events";
import { createServer, type IncomingMessage, type Server, type ServerResponse } from "node:http";
import { type AddressInfo, createServer as createRawServer, type Socket } from "node:net";
import { afterAll, beforeAll, beforeEach, expect } from "@jest/globals";
import { toCodexError } from "../../lib/codex/codex-error.ts";
import { httpMethods } from "../../lib/codex/server/http/http-methods.ts";
import { type MethodScope, type MethodTable, RawResult, ReplyThen } from "../../lib/codex/server/method.ts";

/** The result of http/request. */
export interface Answer {
  readonly status: number;
  readonly headers: readonly { readonly name: string; readonly value: string }[];
  readonly bodyBase64: string;
}

/** A piece of a body. */
export interface Delta {
  readonly requestId: string;
  readonly seq: number;
  readonly deltaBase64: string;
  readonly done: boolean;
  readonly error: string | null;
}

/** A connection as the methods use it, and its notifications. */
export class FakeConnection {
  readonly deltas: Delta[] = [];
  readonly over = new AbortController();
  drained = (): Promise<void> => Promise.resolve();
  readonly #methods: MethodTable;
  readonly #wakes = new Set<() => void>();

  constructor(...limits: [maxBufferedBodyBytes?: number]) {
    const scope: MethodScope = {
      notify: (name, params) => {
        expect(name).toBe("http/request/bodyDelta");
        this.deltas.push(params as Delta);
        for (const wake of this.#wakes) wake();
      },
      drained: () => this.drained(),
      signal: this.over.signal,
    };
    this.#methods = httpMethods(scope, ...limits);
  }

  /** The response to a request; a stream begins after it. */
  async call(params: unknown): Promise<Answer> {
    const made = await this.callOnly(params);
    if (made instanceof ReplyThen) setImmediate(made.begin);
    const result = made instanceof ReplyThen ? made.result : made;
    return (result instanceof RawResult ? JSON.parse(Buffer.concat(result.parts).toString()) : result) as Answer;
  }

  /** The response before a stream has begun. */
  callOnly(params: unknown): Promise<unknown> {
    return this.#methods["http/request"]!.call(params);
  }

  /** The refusal of a call. */
  async refusal(params: unknown): Promise<string> {
    const answer = await this.call(params).catch((error: unknown) => {
      const { code, message } = toCodexError(error);
      return `${code} ${message}`;
    });
    if (typeof answer === "string") return answer;
    throw new Error("the call was accepted");
  }

  /** The deltas of a request, once the last has arrived. */
  async body(requestId: string): Promise<Delta[]> {
    const mine = () => this.deltas.filter((delta) => delta.requestId === requestId);
    await this.until(() => mine().some(({ done }) => done));
    return mine();
  }

  /** Resolves when the deltas so far pass a test. */
  until(test: (deltas: readonly Delta[]) => boolean): Promise<void> {
    return new Promise((resolve) => {
      const wake = () => {
        if (!test(this.deltas)) return;
        this.#wakes.delete(wake);
        resolve();
      };
      this.#wakes.add(wake);
      wake();
    });
  }
}

/** Answers a request of a test. */
export type Handler = (request: IncomingMessage, response: ServerResponse) => void;

/** Two servers for a spec file, which echo requests without a handler; each test begins without handlers. */
export class HttpServers {
  readonly handlers = new Map<string, Handler>();
  /** Paths of requests, and of closed responses. */
  readonly #seen = new EventEmitter();
  /** URL of the first server, without a trailing slash. */
  base = "";
  /** URL of the second server: another origin. */
  other = "";

  /** Starts them before the tests of a file and closes them after it. */
  static use(): HttpServers {
    const servers = new HttpServers();
    const running: Server[] = [];
    const listen = async () => {
      const server = createServer((request, response) => {
        const { pathname } = new URL(request.url!, "http://x");
        (servers.handlers.get(pathname) ?? echo)(request, response);
        servers.#seen.emit("request", pathname);
        response.once("close", () => servers.#seen.emit("close", pathname));
      });
      running.push(server);
      await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
      return `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
    };
    beforeAll(async () => {
      servers.base = await listen();
      servers.other = await listen();
    });
    beforeEach(() => servers.handlers.clear());
    afterAll(() => {
      for (const server of running) {
        server.closeAllConnections();
        server.close();
      }
    });
    return servers;
  }

  /** Resolves when, from now on, so many requests of a path have arrived, or their responses have been closed. */
  async seen(event: "request" | "close", path: string, count = 1): Promise<void> {
    let left = count;
    for await (const [seen] of on(this.#seen, event)) {
      if (seen === path) left -= 1;
      if (left === 0) return;
    }
  }

  /**
   * Makes a request on a connection of its own, which takes several turns of the event loop: everything that other connections
   * had in flight before has arrived after it.
   */
  async settle(): Promise<void> {
    expect(await new FakeConnection().call(this.get("/settle"))).toMatchObject({ status: 200 });
  }

  /** Params for a path of the first server. */
  get(path: string, more: object = {}): object {
    return { method: "GET", url: this.base + path, requestId: "r", ...more };
  }
}

/** Echoes the request. */
async function echo(request: IncomingMessage, response: ServerResponse): Promise<void> {
  const chunks: Buffer[] = [];
  for await (const chunk of request) chunks.push(chunk as Buffer);
  const lines = [`${request.method} ${request.url}`];
  for (let at = 0; at < request.rawHeaders.length; at += 2) {
    lines.push(`${request.rawHeaders[at]!.toLowerCase()}: ${request.rawHeaders[at + 1]}`);
  }
  response.end([...lines, "", Buffer.concat(chunks).toString("latin1")].join("\n"));
}

/** The body of a response, one character per byte. */
export function textOf({ bodyBase64 }: { readonly bodyBase64: string }): string {
  return Buffer.from(bodyBase64, "base64").toString("latin1");
}

/** The values of a header of a response. */
export function valuesOf({ headers }: Answer, wanted: string): string[] {
  return headers.flatMap(({ name, value }) => (name === wanted ? [value] : []));
}

/** A server that sends fixed bytes, valid HTTP or not. */
export async function rawServer(talk: (socket: Socket) => void): Promise<{ readonly url: string; close(): void }> {
  const sockets = new Set<Socket>();
  const server = createRawServer((socket) => {
    sockets.add(socket);
    socket.on("error", () => undefined);
    socket.once("data", () => talk(socket));
  });
  await new Promise<void>((resolve) => server.listen(0, "127.0.0.1", resolve));
  const close = () => {
    server.close();
    for (const socket of sockets) socket.destroy();
  };
  return { url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/`, close };
}

/** The result of a request whose server sends these bytes, or its refusal. */
export async function answerTo(said: string | Buffer, more: object = {}): Promise<Answer | string> {
  const raw = await rawServer((socket) => socket.end(said));
  try {
    return await new FakeConnection()
      .call({ method: "GET", url: raw.url, requestId: "r", ...more })
      .catch((error: unknown) => toCodexError(error).message);
  } finally {
    raw.close();
  }
}
