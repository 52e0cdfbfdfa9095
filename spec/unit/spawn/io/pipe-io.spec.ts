// Which pipes are enlarged: stdout before the child runs, the others once they are busy; every grant is returned.
import { execFileSync } from "node:child_process";
import { closeSync, constants, openSync, writeSync } from "node:fs";
import { describe, expect, it } from "@jest/globals";
import { PipeIo } from "../../../../lib/spawn/io/pipe-io.ts";
import { makeScratch, uniqueName } from "../../../support/scratch.ts";

const scratch = makeScratch();
const MIB = 1024 * 1024;

/** Grants every request, and records it. */
class Allowance {
  readonly asked: string[] = [];
  granted = 0;
  readonly #grants: boolean;

  constructor(grants: boolean) {
    this.#grants = grants;
  }

  unblock = (): void => undefined;
  growEarly = (fd: number): boolean => this.#grant(`early ${fd}`);
  grow = (fd: number): boolean => this.#grant(`busy ${fd}`);
  shrink = (): void => {
    this.granted -= 1;
  };

  #grant(what: string): boolean {
    this.asked.push(what);
    if (this.#grants) this.granted += 1;
    return this.#grants;
  }
}

/** Both ends of a new pipe. */
function pipe(): { readonly end: number; readonly writer: number } {
  const path = scratch(uniqueName("pipe"));
  execFileSync("mkfifo", [path]);
  const end = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK);
  return { end, writer: openSync(path, constants.O_WRONLY) };
}

/** Reads both streams to their ends, each with this many bytes on it. */
async function readAll(grower: Allowance, bytes: number): Promise<[stdout: number, stderr: number]> {
  const [stdout, stderr] = [pipe(), pipe()];
  const io = new PipeIo({ stdin: undefined, stdout: stdout.end, stderr: stderr.end }, Buffer.alloc(65_536), grower);
  let wake = (): void => undefined;
  let [seen, open] = [0, 2];
  const over = new Promise<void>((resolve) => {
    io.connect({
      output: (_stream, chunk) => {
        seen += chunk.length;
        wake();
      },
      ended: () => {
        open -= 1;
        if (open === 0) resolve();
      },
    });
    io.startReading();
  });
  for (const { writer } of [stdout, stderr]) {
    const until = seen + bytes;
    for (let written = 0; written < bytes; written += 32_768) {
      writeSync(writer, Buffer.alloc(32_768));
      const target = until - bytes + written + 32_768;
      while (seen < target) {
        await new Promise<void>((resolve) => {
          wake = resolve;
        });
      }
    }
    closeSync(writer);
  }
  await over;
  io.release();
  return [stdout.end, stderr.end];
}

describe("the pipes of a child", () => {
  it("are enlarged at once for stdout, and for stderr once it is busy", async () => {
    const grower = new Allowance(true);
    const [stdout, stderr] = await readAll(grower, 2 * MIB);
    expect(grower).toMatchObject({ asked: [`early ${stdout}`, `busy ${stderr}`], granted: 0 });
  });

  it("are requested once more if they were not granted at first", async () => {
    const grower = new Allowance(false);
    const [stdout, stderr] = await readAll(grower, 2 * MIB);
    expect(grower).toMatchObject({ asked: [`early ${stdout}`, `busy ${stdout}`, `busy ${stderr}`], granted: 0 });
  });

  it("stay small while there is little output", async () => {
    const grower = new Allowance(false);
    const [stdout] = await readAll(grower, 65_536);
    expect(grower.asked).toEqual([`early ${stdout}`]);
  });

  it("return their grants if the spawn fails", () => {
    const grower = new Allowance(true);
    const [stdout, stderr] = [pipe(), pipe()];
    const io = new PipeIo({ stdin: undefined, stdout: stdout.end, stderr: stderr.end }, Buffer.alloc(1), grower);
    expect(grower.granted).toBe(1);
    io.release();
    expect(grower.granted).toBe(0);
    for (const { writer } of [stdout, stderr]) closeSync(writer);
  });
});
