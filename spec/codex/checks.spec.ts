// The black-box checks of the protocol document, on our own command line; `npm run codex:checks` compares with the real binary.
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { checks, runCheck, startServer } from "../../scripts/codex/suite.mjs";
import { sandboxMissing } from "../../scripts/prerequisites.mjs";

const cannotSandbox = sandboxMissing() !== undefined;
const ours = checks.filter(
  ({ only, slow, needs }) => only !== "reference" && !slow && !(needs === "sandbox" && cannotSandbox),
);

describe("a server of the Codex dialect", () => {
  let server: Awaited<ReturnType<typeof startServer>>;
  beforeAll(async () => {
    server = await startServer("ours");
  });
  afterAll(() => server.stop());

  it.each(ours.map((check) => [`${check.id}: ${check.what}`, check] as const))(
    "%s",
    async (_name, check) => {
      const { seen } = await runCheck(check, server);
      expect(seen).toEqual((check.better ?? check).expect);
    },
    60_000,
  );
});
