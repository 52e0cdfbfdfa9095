// Deaths by signal as one number, as shells report them.
import { constants } from "node:os";
import { expect, it } from "@jest/globals";
import { shellExitCode, signalNumber } from "../../../lib/process/signal-number.ts";
import { hostSignalName } from "../../../lib/spawn/signals.ts";

it.each([
  [{ exitCode: 3, signal: null }, 3],
  [{ exitCode: null, signal: "SIGKILL" }, 137],
  [{ exitCode: null, signal: "SIGRT2" }, 162],
  [{ exitCode: null, signal: "SIGODD" }, 128],
  [{ exitCode: null, signal: null }, null],
])("an exit %j is %p", (exit, code) => {
  expect(shellExitCode(exit)).toBe(code);
});

it.each(["TERM", "SIGNOT", "SIG", ""])("%j is not the name of a signal", (name) => {
  expect(signalNumber(name)).toBeUndefined();
});

it("an abort is 134 by the name that this host reports, which is SIGABRT, and by its other name", () => {
  const codes = [hostSignalName(6), "SIGIOT"].map((signal) => shellExitCode({ exitCode: null, signal }));
  expect([hostSignalName(6), ...codes]).toEqual(["SIGABRT", 134, 134]);
});

const onLinux = process.platform === "linux" ? it : it.skip;

onLinux("every signal of this host has its number, by each of its names", () => {
  const { signals } = constants;
  const numbers = Object.keys(signals).map((name) => [name, signalNumber(name)]);
  expect(Object.fromEntries(numbers)).toEqual({ ...signals });
  for (const number of Object.values(signals)) expect(signalNumber(hostSignalName(number))).toBe(number);
});
