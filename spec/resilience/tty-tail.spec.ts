// Output on a terminal arrives completely, including the last bytes before the exit, which node-pty loses (node-pty#85, #726).
import { createHash } from "node:crypto";
import { writeFileSync } from "node:fs";
import { afterAll, describe, expect, it } from "@jest/globals";
import { createSupervisor } from "../../lib/index.ts";
import { outcome } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { makeScratch } from "../support/scratch.ts";

const scratch = makeScratch();
const sha256Of = (content: string) => createHash("sha256").update(content).digest("hex");

/** A file in which all parts differ, without bytes that a terminal would translate. */
function printable(bytes: number): { readonly path: string; readonly sha256: string } {
  const path = scratch(`${bytes}`);
  const words = Array.from({ length: Math.ceil(bytes / 8) }, (_, index) => `${index}`.padStart(8, "."));
  const content = words.join("").slice(0, bytes);
  writeFileSync(path, content);
  return { path, sha256: sha256Of(content) };
}

describe.each(["posix", "portable"] as const)("a terminal of the %s spawner", (spawner) => {
  const supervisor = createSupervisor({ spawner });
  afterAll(() => supervisor.close());

  async function printOnce(path: string, exitCode: number) {
    const process = await supervisor.start({ argv: sh(`/bin/cat "$1"; exit "$2"`, path, `${exitCode}`), tty: true });
    const { pty, exitCode: code, signal } = await outcome(process);
    return { bytes: pty.length, sha256: sha256Of(pty), code, signal };
  }

  it.each([
    { bytes: 65_000, times: 200, together: 4 },
    { bytes: 5 * 1024 * 1024, times: 20, together: 1 },
  ])(
    "delivers $bytes bytes and the exit code, $times times of $times",
    async ({ bytes, times, together }) => {
      const { path, sha256 } = printable(bytes);
      const outcomes = [];
      for (let done = 0; done < times; done += together) {
        const wave = Array.from({ length: together }, (_, index) => printOnce(path, (done + index) % 100));
        outcomes.push(...(await Promise.all(wave)));
      }
      const expected = Array.from({ length: times }, (_, index) => ({
        bytes,
        sha256,
        code: index % 100,
        signal: null,
      }));
      expect(outcomes).toEqual(expected);
    },
    60_000,
  );
});
