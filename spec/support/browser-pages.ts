// Serves web pages on 127.0.0.1 that load the bundled client. Each server has an origin of its own.
import { createServer } from "node:http";
import type { AddressInfo } from "node:net";

/** A server of pages. */
export interface Pages {
  /** Origin of the pages, and the address of the only one. */
  readonly origin: string;
  close(): Promise<void>;
}

const PAGE = `<!doctype html><title>execwire</title><link rel="icon" href="data:,">
<script type="module">
  import * as client from "/client.js";
  globalThis.execwire = client;
</script>`;

/** Serves a page that provides all exports of `script`, an ES module, as `globalThis.execwire` once it is loaded. */
export async function servePages(script: string): Promise<Pages> {
  const http = createServer((request, response) => {
    const isScript = request.url === "/client.js";
    response.setHeader("content-type", isScript ? "text/javascript" : "text/html; charset=utf-8");
    response.end(isScript ? script : PAGE);
  });
  await new Promise<void>((resolve) => http.listen(0, "127.0.0.1", resolve));
  return {
    origin: `http://127.0.0.1:${(http.address() as AddressInfo).port}`,
    close: () =>
      new Promise((resolve) => {
        http.close(() => resolve());
        http.closeAllConnections();
      }),
  };
}
