// The info of a process is bounded: long command lines are shortened with a count of the omitted part, and a spec whose info
// would be too large is refused before anything is started.
import { expect, it } from "@jest/globals";
import { limits } from "../../protocol/index.ts";
import { end, outcome } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { describeBackends } from "./backends.ts";

const scratch = makeScratch();

describeBackends("process infos", (subject) => {
  const { start } = subject;

  it("show the beginning of a long script and count the omitted part, while the whole script runs", async () => {
    const argv = [...sh(`: ${"é".repeat(5_000)}; printf %s "$#"`), "one", "two"];
    const process = await start({ argv });
    const bytes = (texts: readonly string[]) => texts.reduce((sum, text) => sum + Buffer.byteLength(text), 0);
    const { argv: shown, argvOmitted } = process.info;
    expect(shown.slice(0, 2)).toEqual(["/bin/sh", "-c"]);
    expect(argv[2]?.startsWith(shown[2] as string)).toBe(true);
    expect(shown.length).toBe(3);
    expect(bytes(shown)).toBeGreaterThan(limits.infoArgvBytes - 32);
    expect(bytes(shown)).toBeLessThanOrEqual(limits.infoArgvBytes);
    expect(argvOmitted).toEqual({ arguments: argv.length - 3, bytes: bytes(argv) - bytes(shown) });
    expect(await subject.backend.list()).toContainEqual(expect.objectContaining({ argv: shown, argvOmitted }));
    expect(await outcome(process)).toMatchObject({ stdout: "2" });
  });

  it("show a command line of usual length as a whole, without argvOmitted", async () => {
    const argv = sh("exit 0", "x".repeat(1_900));
    const process = await start({ argv });
    expect(process.info.argv).toEqual(argv);
    expect(process.info).not.toHaveProperty("argvOmitted");
    await end(process);
  });

  const many = Object.fromEntries(Array.from({ length: limits.labels + 1 }, (_, index) => [`label${index}`, ""]));
  it.each([
    ["too many labels", "labels", { labels: many }],
    ["a label that is too large", "labelBytes", { labels: { a: "€".repeat(Math.ceil(limits.labelBytes / 3)) } }],
    ["a label name that is too large", "labelBytes", { labels: { ["n".repeat(limits.labelBytes + 1)]: "" } }],
    ["a directory that is too long", "pathBytes", { cwd: `/${"d/".repeat(2_048)}` }],
  ])("refuse %s with the name of the limit, and nothing is started", async (_what, limit, more) => {
    const trace = scratch(uniqueName("started"));
    const processId = uniqueName("refused");
    const refused = await refusal(start({ argv: sh('echo x > "$1"', trace), processId, ...more }));
    expect(refused).toEqual({ code: "LIMIT_EXCEEDED", data: { limit } });
    // The id is free, because no process was started with it.
    const next = await start({ argv: sh('[ ! -e "$1" ]', trace), processId });
    expect(await outcome(next)).toMatchObject({ exitCode: 0 });
  });

  it("accept exactly as many labels and bytes as the limits allow", async () => {
    const names = Object.keys(many).slice(1);
    const size = names.join("").length;
    const labels = Object.fromEntries(
      names.map((name, index) => [name, index === 0 ? "v".repeat(limits.labelBytes - size) : ""]),
    );
    const process = await start({ argv: ["true"], labels });
    expect(process.info.labels).toEqual(labels);
    await end(process);
  });
});
