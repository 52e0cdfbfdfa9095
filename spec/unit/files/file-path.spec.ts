// The directories on the way to a path.
import { describe, expect, it } from "@jest/globals";
import { ancestry } from "../../../lib/files/file-path.ts";

describe("the directories on the way to a path", () => {
  it.each([
    ["/", ["/"]],
    ["/a", ["/", "/a"]],
    ["/a/b c/é", ["/", "/a", "/a/b c", "/a/b c/é"]],
  ])("are the root, each below it, and the path itself: %s", (path, expected) => {
    expect(ancestry(Buffer.from(path)).map(String)).toEqual(expected);
  });

  it("are computed without copies, which would be quadratic for the longest path of short names", () => {
    const path = Buffer.from("/a".repeat(2_047));
    const directories = ancestry(path);
    expect(directories.length).toBe(2_048);
    expect(directories.every(({ buffer }) => buffer === path.buffer)).toBe(true);
    expect(directories.at(-1)).toBe(path);
  });
});
