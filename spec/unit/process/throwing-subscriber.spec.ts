// Every observable of a process is guarded, including derived ones: a viewer's bug never ends the supervisor.
import { afterEach, beforeEach, describe, expect, it } from "@jest/globals";
import { config, type Observable } from "rxjs";
import { lines } from "../../../lib/process/lines.ts";
import type { Process } from "../../../lib/process/process.ts";
import { text } from "../../../lib/process/text.ts";
import { FakeHost } from "../../support/fake-supervisor.ts";

let unhandled: unknown[] = [];
let host: FakeHost;
beforeEach(() => {
  unhandled = [];
  config.onUnhandledError = (error) => unhandled.push(error);
  host = new FakeHost();
});
afterEach(async () => {
  await host.close();
  config.onUnhandledError = null;
});

const views: [string, (process: Process) => Observable<unknown>][] = [
  ["events()", (process) => process.events()],
  ["output$", (process) => process.output$],
  ["exit$", (process) => process.exit$],
  ["closed$", (process) => process.closed$],
  ["text()", (process) => text(process)],
  ["lines()", (process) => lines(process)],
  ["changes$", () => host.supervisor.changes$],
];

describe("a subscriber that throws", () => {
  it.each(views)("to %s is reported, and the process continues", async (_name, view) => {
    const { process, child, events } = await host.start();
    view(process).subscribe(() => {
      throw new Error("a viewer's bug");
    });
    child.output("text\n");
    child.exit(0);
    child.end();
    await new Promise((resolve) => setTimeout(resolve));
    expect(unhandled).toEqual([]);
    expect(host.errors.map(String)).toContain("Error: a viewer's bug");
    expect(events.map(({ type }) => type)).toEqual(["output", "exited", "closed"]);
  });

  it("while it iterates ends only its own loop", async () => {
    const { process, child, events } = await host.start();
    const loop = (async () => {
      for await (const delivery of process) throw new Error(`a consumer's bug at ${delivery.type}`);
    })();
    child.output("text");
    await expect(loop).rejects.toThrow("a consumer's bug at output");
    child.exit(0);
    child.end();
    expect(events.map(({ type }) => type)).toEqual(["output", "exited", "closed"]);
  });
});
