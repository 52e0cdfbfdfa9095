// `execwire ps -v`: why a process makes no progress, or is not closed.
import { beforeAll, describe, expect, it } from "@jest/globals";
import type { DetailedInfo } from "../../lib/cli/process-details.ts";
import { makeSurroundings } from "../support/system-server.ts";
import { settled } from "../support/system-wait.ts";

const user = makeSurroundings();
beforeAll(() => user.serve());

const start = (id: string, script: string, ...args: string[]) =>
  user.cli(["run", "-d", "--id", id, ...args, "--", "sh", "-c", script]);

/** The lines of one process, its row first, once they match; otherwise the last ones before the deadline. */
async function linesOf(id: string, fit: RegExp): Promise<string[]> {
  const look = async () => {
    const { stdout } = await user.cli(["ps", "-v"]);
    const lines = stdout.split("\n");
    const row = lines.findIndex((line) => line.startsWith(`${id} `));
    const next = lines.findIndex((line, index) => index > row && !line.startsWith("    "));
    return lines.slice(row, next);
  };
  return settled(look, (lines) => fit.test(lines.join("\n")));
}

const started = expect.stringMatching(/^ {4}started {3}\d{4}-\d\d-\d\d \d\d:\d\d:\d\d$/);

describe("execwire ps -v", () => {
  it("shows below its row what a process is doing, where, and since when", async () => {
    await start("reader", "exec cat", "-i", "--cwd", "/usr");
    expect(await linesOf("reader", /reading-stdin/)).toEqual([
      expect.stringMatching(/^reader +running +\d+ +\d+s +sh -c exec cat$/),
      "    activity  reading-stdin",
      "    cwd       /usr",
      started,
    ]);
  });

  it("names the descendant that determines the state", async () => {
    await start("waiter", "sleep 300; true", "--cwd", "/");
    expect(await linesOf("waiter", /sleep 300$/m)).toEqual([
      expect.stringMatching(/^waiter +running/),
      expect.stringMatching(/^ {4}activity {2}waiting-for-children {2}\d+ sleep 300$/),
      "    cwd       /",
      started,
    ]);
  });

  it("names the process that keeps an exited process from being closed, and by which streams", async () => {
    await start("left", "sleep 301 2> /dev/null & sleep 302 & exit 3", "--cwd", "/");
    const lines = await linesOf("left", /sleep 301\n.*sleep 302$/m);
    expect(lines[0]).toMatch(/^left +exited +3 +/);
    expect(lines.slice(1, 3).sort()).toEqual([
      expect.stringMatching(/^ {4}held by {3}\d+ stdout {2}sleep 301$/),
      expect.stringMatching(/^ {4}held by {3}\d+ stdout,stderr {2}sleep 302$/),
    ]);
    expect(lines.slice(3)).toEqual(["    cwd       /", started]);
    await user.cli(["stop", "--scope", "tree", "--grace", "0", "left"]);
    expect(await linesOf("left", /closed/)).toEqual([
      expect.stringMatching(/^left +closed +3/),
      "    cwd       /",
      started,
    ]);
  });

  it("shows no control characters of a command line", async () => {
    await start("ugly", "sleep 303; : '\x1b[31m\n\u202e'");
    const { stdout } = await user.cli(["ps", "-v"]);
    for (const character of ["\x1b", "\u202e"]) expect(stdout).not.toContain(character);
  });

  it("prints the same as JSON, and without -v only the listed fields", async () => {
    const processes = async (...args: string[]): Promise<DetailedInfo[]> =>
      JSON.parse((await user.cli(["ps", "--json", ...args])).stdout);
    const reader = (list: DetailedInfo[]) => list.find(({ processId }) => processId === "reader");
    const { activity, ...listed } = reader(await processes("-v")) ?? ({} as DetailedInfo);
    expect(activity).toEqual({ state: "reading-stdin", pid: listed.pid, command: "cat" });
    expect(reader(await processes())).toEqual(listed);
  });

  it("has help that explains each activity, in lines of 100 columns", async () => {
    const { stdout } = await user.cli(["ps", "--help"]);
    for (const state of ["running", "reading-stdin", "polling-stdin", "stopped", "waiting-for-io", "sleeping"])
      expect(stdout).toMatch(new RegExp(`^ +${state} {2,}\\w`, "m"));
    expect(stdout.split("\n").filter((line) => line.length > 100)).toEqual([]);
  });
});
