// The address in `execwire serve --listen`.
import { resolve } from "node:path";
import { InvalidArgumentError } from "commander";
import type { ListenAddress } from "../../server/server.ts";

/** Parses `ws://HOST:PORT`, `unix:PATH` or `stdio`. Throws InvalidArgumentError. */
export function parseListen(text: string): ListenAddress | "stdio" {
  if (text === "stdio") return "stdio";
  if (/^unix:./.test(text)) return { path: resolve(text.slice("unix:".length)) };
  const address = /^ws:\/\/(\[[0-9a-f:.]+\]|[^\s/:?#@[\]]+):(\d{1,5})\/?$/i.exec(text);
  const port = Number(address?.[2]);
  if (!address?.[1] || port > 65_535) {
    throw new InvalidArgumentError("It must be ws://HOST:PORT (port 0: any free one), unix:PATH or stdio.");
  }
  return { host: address[1].replace(/^\[|\]$/g, ""), port };
}
