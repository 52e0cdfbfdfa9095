// One workspace under two names: paths inside are translated, paths outside are refused with their name.
import { describe, expect, it } from "@jest/globals";
import { mapCwd } from "../../../../lib/exec/sessions/path-mapping.ts";
import { openExecSessions } from "../../../../lib/exec/sessions/sessions.ts";
import { FakeHost } from "../../../support/fake-supervisor.ts";
import { nextTurn } from "../../../support/next-turn.ts";
import { refusal } from "../../../support/refusal.ts";

const workspace = { local: "/home/me/proj", remote: "/srv/proj" };

describe("a mapped working directory", () => {
  it.each([
    ["/home/me/proj", "/srv/proj"],
    ["/home/me/proj/", "/srv/proj"],
    ["/home/me/proj/src/deep", "/srv/proj/src/deep"],
    ["/home/me/proj/src/../lib", "/srv/proj/lib"],
    ["/home/me/proj/..hidden", "/srv/proj/..hidden"],
    [undefined, "/srv/proj"],
  ])("%s becomes %s on the server", (cwd, mapped) => {
    expect(mapCwd(cwd, workspace)).toBe(mapped);
  });

  it.each(["/home/me", "/home/me/project", "/", "/srv/proj", "/home/me/proj/../other"])(
    "%s is refused, and the refusal names it",
    async (cwd) => {
      const mapped = async () => mapCwd(cwd, workspace);
      expect(await refusal(mapped())).toEqual({
        code: "INVALID_PARAMS",
        data: { field: "cwd", cwd, workspace: "/home/me/proj" },
      });
      await expect(mapped()).rejects.toThrow(cwd);
    },
  );

  it("must be an absolute path", async () => {
    expect(await refusal((async () => mapCwd("src", workspace))())).toEqual({
      code: "INVALID_PARAMS",
      data: { field: "cwd" },
    });
  });

  it("is the directory in which the process starts, and a refused directory starts nothing", async () => {
    const host = new FakeHost();
    const sessions = openExecSessions(host.supervisor, { workspace, clock: host.clock });
    await refusal(sessions.start({ argv: ["/fake/program"], cwd: "/tmp" }));
    expect(host.spawner.launches).toHaveLength(0);
    const outside = { local: "proj", remote: "/work" };
    expect(() => openExecSessions(host.supervisor, { workspace: outside })).toThrow("workspace.local");
    await nextTurn();
    await host.close();
  });
});
