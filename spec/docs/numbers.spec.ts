// The numbers that the documents promise are those of the limits.
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { expect, it } from "@jest/globals";
import { limits, MIN_FRAME_BYTES } from "../../protocol/index.ts";
import { checks } from "../../scripts/codex/suite.mjs";

const root = join(import.meta.dirname, "../..");

it.each([
  ["README.md", `${limits.retainedBytes / 2 ** 20} MiB per process and ${limits.closedRetentionMs / 1000} s`],
  ["README.md", `does not reconnect within ${limits.sessionTtlMs / 1000} s`],
  ["README.md", `compares ${checks.filter(({ slow }) => !slow).length} answers`],
  ["lib/README.md", `connection up to ${limits.unreadBytes / 2 ** 20} MiB are kept`],
  ["protocol/README.md", `1 to ${limits.chunkBytes.toLocaleString("en")} bytes`],
  ["README.md", `At most ${limits.viewConnections} viewers can be connected`],
  ["README.md", `waiting for it for ${limits.stallMs / 1000} s`],
  ["README.md", `${limits.infoArgvBytes / 1024} KiB of a command line`],
  ["README.md", `${limits.labels} labels of ${limits.labelBytes / 1024} KiB`],
  ["lib/README.md", `Before hello it holds ${limits.helloBytes / 1024} KiB`],
  ["lib/README.md", `a waiting frame is charged ${limits.frameOverheadBytes / 1024} KiB`],
  ["README.md", `is given up ${limits.closeDeadlineMs / 1000} s after the tree`],
  ["protocol/README.md", `remembered for the last ${limits.writeIds.toLocaleString("en")}`],
  ["protocol/README.md", `At most ${limits.requests.toLocaleString("en")}`],
  ["protocol/README.md", `time without a connection (${limits.sessionTtlMs / 1000} s)`],
  ["protocol/README.md", `at most ${limits.labels} labels of ${limits.labelBytes.toLocaleString("en")} bytes`],
  ["protocol/README.md", `first ${limits.infoArgvBytes.toLocaleString("en")} bytes`],
  ["protocol/README.md", `a \`cwd\` of ${limits.pathBytes.toLocaleString("en")} bytes`],
  ["protocol/README.md", `at least ${MIN_FRAME_BYTES.toLocaleString("en")} bytes`],
  ["protocol/README.md", `MUST NOT send more than ${limits.helloBytes / 1024} KiB`],
  ["protocol/README.md", `At most ${limits.waitingConnections} connections without a token`],
  [
    "protocol/README.md",
    `${limits.viewFrameBytes / 1024} KiB for viewers, whose connections are counted apart (${limits.viewConnections})`,
  ],
  [
    "protocol/README.md",
    `share ${limits.connectionsBytes / 2 ** 20} MiB of memory (viewers: ${limits.viewConnectionsBytes / 2 ** 20} MiB)`,
  ],
  ["protocol/README.md", `charged its frame and ${limits.requestOverheadBytes / 1024} KiB`],
  ["protocol/README.md", `at most ${limits.listBytes / 2 ** 20} MiB (viewers: ${limits.listPageBytes / 1024} KiB)`],
  ["protocol/README.md", `A viewer's session ends ${limits.viewSessionTtlMs / 1000} s after its connection`],
  ["protocol/README.md", `(${limits.sessions.toLocaleString("en")} that control, ${limits.viewSessions} of viewers)`],
  ["protocol/README.md", `at most ${limits.frameBytes / 2 ** 20} MiB`],
])("%s is right that it is: %s", (file, text) => {
  expect(readFileSync(join(root, file), "utf8").replace(/\s+/g, " ")).toContain(text);
});

it("lib/README.md is right about the files in a folder", () => {
  const [, max] = /MAX_FILES = (\d+);/.exec(readFileSync(join(root, "scripts/check-layers.mjs"), "utf8")) ?? [];
  expect(readFileSync(join(root, "lib/README.md"), "utf8")).toContain(`more than ${max} files directly in it`);
});
