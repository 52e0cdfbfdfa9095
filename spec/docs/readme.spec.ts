// The examples in the README do what it says they do.
import { execFile } from "node:child_process";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { promisify } from "node:util";
import { describe, expect, it } from "@jest/globals";

const root = join(import.meta.dirname, "../..");
const readme = readFileSync(join(root, "README.md"), "utf8");

/** The content of the first fenced block of a language. */
function block(language: string): string {
  const found = new RegExp(`\`\`\`${language}\n([^]*?)\`\`\``).exec(readme)?.[1];
  if (found === undefined) throw new Error(`README.md has no ${language} block`);
  return found;
}

/** What a program prints; execwire is imported by its own name, as a user would. */
async function run(file: string, args: readonly string[]) {
  try {
    const { stdout } = await promisify(execFile)(file, args, { cwd: root });
    return { stdout, code: 0 };
  } catch (error) {
    const { stdout, code } = error as { stdout: string; code: number };
    return { stdout, code };
  }
}

describe("README", () => {
  it("shows a program that prints what the README says", async () => {
    expect(await run(process.execPath, ["--input-type=module", "-e", block("js")])).toEqual({
      stdout: block("text"),
      code: 0,
    });
  });

  it("shows a program of at most 12 lines", () => {
    expect(block("js").trim().split("\n").length).toBeLessThanOrEqual(12);
  });

  it("shows a first command that prints hello and exits with 3", async () => {
    expect(readme).toContain("execwire run -- sh -c 'echo hello; exit 3'");
    const cli = join(root, "dist/lib/cli/main.js");
    expect(await run(process.execPath, [cli, "run", "--", "sh", "-c", "echo hello; exit 3"])).toEqual({
      stdout: "hello\n",
      code: 3,
    });
  });
});
