// The cost of metrics for a program that uses the package: the OpenTelemetry API is loaded only if the application has an SDK.
import { expect, it } from "@jest/globals";
import { runScript } from "../support/system-run.ts";

it("does not load the API into a program that has no SDK", async () => {
  expect(await runScript("default-meter", "none")).toEqual({ isLoaded: false, names: [] });
});

it("finds the SDK that the application has registered", async () => {
  const { names } = (await runScript("default-meter", "provider")) as { names: string[] };
  expect(names).toEqual(expect.arrayContaining(["execwire string", "exec.process.started"]));
});
