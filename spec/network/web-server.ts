// A web server of the host, on all addresses of its loopback, for the specs of managed networks.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";
import { afterAll, beforeAll } from "@jest/globals";

/** A request as the server saw it. */
export interface SeenRequest {
  readonly host: string | undefined;
  readonly url: string | undefined;
  readonly bytes: number;
}

/** Starts it for one spec file. It answers with the length of the body. */
export function makeWebServer() {
  const seen: SeenRequest[] = [];
  const server = createServer((request, answer) => {
    let bytes = 0;
    request.on("data", (chunk: Buffer) => {
      bytes += chunk.length;
    });
    request.on("end", () => {
      seen.push({ host: request.headers.host, url: request.url, bytes });
      answer.end(`served ${bytes}`);
    });
  });
  beforeAll(() => new Promise<void>((resolve) => server.listen(0, resolve)));
  afterAll(() => {
    server.closeAllConnections();
    server.close();
  });
  return {
    seen,
    get port(): number {
      return (server.address() as AddressInfo).port;
    },
  };
}
