// A command that has become another user: the system does not permit to end it. Every call ends all the same, and says why.
import type { ChildProcess } from "node:child_process";
import { chmodSync, copyFileSync, mkdirSync } from "node:fs";
import { join } from "node:path";
import { afterEach, beforeAll, describe, expect, it } from "@jest/globals";
import { unprivileged } from "../../scripts/prerequisites.mjs";
import { makeScratch } from "../support/scratch.ts";
import { cliArgv, dist, runProgram } from "../support/system-run.ts";
import { endDetached, numbersIn } from "../support/trees.ts";

const asUser = unprivileged(dist);
const at = makeScratch();
const left: number[] = [];
afterEach(() => endDetached(...left.splice(0)));

(asUser ? describe : describe.skip)("a command that has become root, run by another user", () => {
  const home = at("home");
  const asRoot = join(home, "as-root");
  const command = [asRoot, "--reuid", "0", "--clear-groups", "sh", "-c", "echo ready; exec sleep 300"];
  beforeAll(() => {
    mkdirSync(home);
    copyFileSync("/usr/bin/setpriv", asRoot);
    chmodSync(asRoot, 0o4755);
    for (const folder of [at("."), home]) chmodSync(folder, 0o777);
  });

  const run = async (args: readonly string[], onStart?: (child: ChildProcess) => void) => {
    const env = { PATH: process.env.PATH, XDG_RUNTIME_DIR: home };
    const options = { cwd: home, env, ...(onStart && { onStart }) };
    const { code, stderr } = await runProgram([...(asUser ?? []), ...cliArgv("run", ...args)], options);
    left.push(...numbersIn(stderr).slice(0, 1));
    return { code, stderr };
  };
  const oneLine = /^execwire: cannot signal process \d+, which belongs to root: EPERM; it keeps running\n$/;

  it("is given up some time after its timeout, and reported in one line", async () => {
    const timeout = ["--timeout", "0.5", "--grace", "0.1", "--", ...command];
    const runs = await Promise.all([run(timeout), run(["--json", ...timeout]), run(["-t", ...timeout])]);
    expect(runs).toEqual(Array(3).fill({ code: 124, stderr: expect.stringMatching(oneLine) }));
  });

  it("is given up at the third SIGTERM", async () => {
    const { code, stderr } = await run(["--", ...command], (child) => {
      child.stdout?.once("data", () => {
        // Apart, since equal signals merge while they are pending.
        let sent = 0;
        const insist = setInterval(() => {
          child.kill("SIGTERM");
          sent += 1;
          if (sent === 3) clearInterval(insist);
        }, 50);
      });
    });
    expect({ code, stderr }).toEqual({ code: 143, stderr: expect.stringMatching(oneLine) });
  });
});
