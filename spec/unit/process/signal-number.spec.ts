// Deaths by signal as one number, as shells report them.
import { expect, it } from "@jest/globals";
import { shellExitCode, signalNumber } from "../../../lib/process/signal-number.ts";

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
