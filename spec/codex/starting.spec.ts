// A start of the Codex protocol that hangs, as on a file system that does not answer: it holds up no other request.
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import type { Spawner } from "../../lib/spawn/child.ts";
import { loadSpawner } from "../../lib/spawn/load-spawner.ts";
import { CodexHost } from "../support/codex-host.ts";
import { type CodexPeer, startParams } from "../support/codex-peer.ts";

let host: CodexHost;
let peer: CodexPeer;
let goOn: () => void;
beforeEach(async () => {
  const spawner = new Promise<Spawner>((resolve) => {
    goOn = () => resolve(loadSpawner({ spawner: "posix", subreaper: false }));
  });
  host = await CodexHost.open({ spawner: () => spawner });
  peer = await host.connect();
});
afterEach(() => {
  goOn();
  return host.close();
});

it("is cancelled by a termination, which is answered at once; its id is free again", async () => {
  const start = peer.ask("process/start", startParams("p", "echo first"));
  expect((await peer.call("process/terminate", { processId: "p" })).result).toEqual({ running: true });
  expect((await peer.reply(start)).error).toEqual({ code: -32600, message: "process p start was cancelled" });
  expect((await peer.call("process/terminate", { processId: "p" })).result).toEqual({ running: false });
  expect((await peer.call("process/write", { processId: "p", chunk: "", writeId: "1" })).result).toEqual({
    status: "unknownProcess",
  });
  expect(await host.supervisor.list()).toEqual([]);
  const again = peer.ask("process/start", startParams("p", "echo second"));
  goOn();
  expect((await peer.reply(again)).result).toMatchObject({ processId: "p" });
  await peer.closed("p");
  expect(peer.textOf("p")).toBe("second\n");
});

it("is reported to reads, writes and signals, which do not wait for it", async () => {
  const start = peer.ask("process/start", startParams("p", "cat", { pipeStdin: true }));
  const read = peer.ask("process/read", { processId: "p", waitMs: 1_000_000 });
  const write = peer.ask("process/write", { processId: "p", chunk: "aGk=", writeId: "1" });
  const signal = peer.ask("process/signal", { processId: "p", signal: "interrupt" });
  expect((await peer.reply(read)).error).toEqual({ code: -32600, message: "process id p is starting" });
  expect((await peer.reply(write)).result).toEqual({ status: "starting" });
  expect((await peer.reply(signal)).result).toEqual({});
  goOn();
  expect((await peer.reply(start)).result).toMatchObject({ processId: "p" });
  // Nothing of the refused write has arrived.
  await peer.call("process/write", { processId: "p", chunk: "eW8=", writeId: "1" });
  await peer.until(() => peer.textOf("p") === "yo" || undefined);
});

it("is refused while its id is in use, before anything else about it", async () => {
  peer.ask("process/start", startParams("p", "true"));
  const other = await peer.call("process/start", { ...startParams("p", ""), argv: [""] });
  expect(other.error).toEqual({ code: -32600, message: "process p already exists" });
});
