// Out of descriptors: failed starts report why and leave nothing behind, and running processes continue.
import { describe, expect, it } from "@jest/globals";
import { runProgram, scriptArgv } from "../support/system-run.ts";

describe("a program with no descriptors left", () => {
  it.each([
    ["posix", "pipe"],
    ["posix", "tty"],
    ["portable", "pipe"],
    ["portable", "tty"],
  ])(
    "is refused more processes as resource-exhausted, and the others continue (%s, %s)",
    async (spawner, kind) => {
      const script = scriptArgv("few-descriptors", spawner, kind);
      const { stdout, stderr } = await runProgram(["sh", "-c", `ulimit -n 64; exec "$0" "$@"`, ...script]);
      expect(stderr).toBe("");
      expect(JSON.parse(stdout)).toEqual({
        refusal: "SPAWN_FAILED resource-exhausted",
        names: expect.stringMatching(/\/bin\/cat/),
        refusals: ["SPAWN_FAILED resource-exhausted"],
        leaked: 0,
        answered: true,
      });
    },
    30_000,
  );
});

describe("a server with few descriptors", () => {
  it("starts processes and accepts its owner, even if peers that wait at its port use almost all descriptors", async () => {
    const argv = ["sh", "-c", `ulimit -n 256; exec "$0" "$@"`, ...scriptArgv("crowded-port")];
    const { stdout, stderr } = await runProgram(argv);
    expect(stderr).toBe("");
    expect(JSON.parse(stdout)).toEqual({ refusals: [], seen: 21 });
  }, 30_000);
});
