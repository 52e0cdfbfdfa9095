// Inspecting a process in states in which it cannot be inspected.
import { afterEach, beforeEach, expect, it } from "@jest/globals";
import { firstValueFrom } from "rxjs";
import { FakeHost } from "../../support/fake-supervisor.ts";
import { refusal } from "../../support/refusal.ts";

let host: FakeHost;
beforeEach(() => {
  host = new FakeHost({ limits: { closedRetentionMs: 1000 } });
});
afterEach(() => host.close());

const questions = ["holders", "activity"] as const;

it.each(questions)("%s is refused while the process starts", async (question) => {
  host.spawner.wait();
  const starting = host.supervisor.start({ argv: ["/fake/program"], processId: "p" });
  const process = await host.supervisor.attach("p");
  expect(await refusal(process[question]())).toEqual({ code: "PROCESS_STARTING", data: {} });
  host.spawner.go();
  await starting;
});

it.each(questions)("%s is refused if the system cannot inspect the child", async (question) => {
  const { process } = await host.start();
  expect(await refusal(process[question]())).toEqual({ code: "UNSUPPORTED", data: { what: question } });
});

it.each(questions)("%s is refused once the process was removed", async (question) => {
  const { process, child } = await host.start();
  child.end();
  child.exit(0);
  await firstValueFrom(process.closed$);
  host.clock.advance(1000);
  expect(await refusal(process[question]())).toEqual({ code: "PROCESS_UNKNOWN", data: {} });
});
