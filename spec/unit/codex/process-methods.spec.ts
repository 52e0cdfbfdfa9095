// The process methods of a Codex server, on a backend that is itself a Codex client.
import { expect, it } from "@jest/globals";
import { type ProcessScope, processMethods } from "../../../lib/codex/server/process-methods.ts";
import { ExecwireError } from "../../../lib/errors.ts";
import type { TerminateOptions } from "../../../lib/process/port.ts";

it("a termination reaches a process of a backend without trees", async () => {
  const asked: unknown[] = [];
  const terminate = async (options?: TerminateOptions) => {
    asked.push(options);
    if (options?.scope) throw new ExecwireError("UNSUPPORTED", "no trees");
    return { running: true };
  };
  const started = Promise.resolve({ subscription: { log: {} }, shared: { process: { terminate } } });
  const session = { state: { byId: new Map([["p", { started }]]), networks: new Map() } };
  const methods = processMethods({ session, context: {} } as unknown as ProcessScope, "/bin/sh");
  expect(await methods["process/terminate"]?.call({ processId: "p" })).toEqual({ running: true });
  expect(asked).toEqual([{ scope: "tree", graceMs: 0 }, undefined]);
});
