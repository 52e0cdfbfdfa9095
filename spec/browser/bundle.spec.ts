// What the client for browsers consists of: code of this project that needs no Node, msgpackr and rxjs.
import { describe, expect, it } from "@jest/globals";
import { bundleForBrowsers } from "../support/browser-bundle.ts";
import { makeScratch } from "../support/scratch.ts";

const scratch = makeScratch();

/** The npm package of a bundled file, or undefined for one of this project. */
function packageOf(path: string): string | undefined {
  return /node_modules\/((?:@[^/]+\/)?[^/]+)\//.exec(path)?.[1];
}

describe("the bundle of lib/browser.ts", () => {
  it("contains no Node module and no package but msgpackr and rxjs (with its tslib)", async () => {
    const { metafile } = await bundleForBrowsers("lib/browser.ts", scratch);
    const inputs = Object.keys(metafile.inputs);
    const imports = Object.values(metafile.inputs).flatMap((input) => input.imports.map(({ path }) => path));
    const left = Object.values(metafile.outputs).flatMap((output) => output.imports);

    expect(inputs).toContain("lib/client/link.ts");
    expect([...new Set(inputs.map(packageOf))].sort()).toEqual(["msgpackr", "rxjs", "tslib", undefined]);
    expect(imports.filter((path) => path.startsWith("node:"))).toEqual([]);
    expect(left).toEqual([]);
  });

  it("contains neither the supervisor nor the server", async () => {
    const { metafile } = await bundleForBrowsers("lib/browser.ts", scratch);
    const folders = Object.keys(metafile.inputs).map((path) => /^(?:lib\/[^/]+|protocol)/.exec(path)?.[0]);

    expect([...new Set(folders)].sort()).toEqual([
      "lib/abort.ts",
      "lib/browser.ts",
      "lib/client",
      "lib/clock.ts",
      "lib/errors.ts",
      "lib/limits.ts",
      "lib/log",
      "lib/mutex.ts",
      "lib/process",
      "lib/transport",
      "protocol",
      undefined,
    ]);
  });
});
