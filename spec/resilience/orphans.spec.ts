// A subreaper adopts orphans: it reaps zombies, finds daemons for a tree kill, and steals no exits of other children. In programs
// of their own, so that jest does not become a subreaper.
import { describe, expect, it } from "@jest/globals";
import { findNamespace } from "../../scripts/prerequisites.mjs";
import { cliArgv, runProgram, runScript } from "../support/system-run.ts";

const namespace = findNamespace();

describe("a subreaper", () => {
  it("leaves no zombie of 1,000 double forks, neither while their process runs nor after its end", async () => {
    expect(await runScript("orphans")).toEqual({ whileRunning: 0, exitCode: 5, afterwards: 0, sawOrphans: true });
  }, 60_000);

  it("ends a daemon that left session, parents and descriptors with the tree of its process, and no other daemon", async () => {
    const round = {
      before: [true, true, true, true],
      between: [false, false, true, true],
      after: [false, false, false, false],
    };
    expect(await runScript("daemon")).toEqual(Array.from({ length: 6 }, () => round));
  });

  it("spares starting children and leftovers of ended processes when the tree of another process is killed", async () => {
    expect(await runScript("spared-processes")).toEqual({ starting: 0, daemons: 0 });
  }, 60_000);
});

describe("a tree kill", () => {
  it("spares a child of this program that is between fork and exec", async () => {
    expect(await runScript("between-fork-and-exec")).toBe(0);
  });
});

describe("supervising beside child_process", () => {
  it.each(["subreaper", "no subreaper"])("gives every child of either its own exit (%s)", async (mode) => {
    const codes = Array.from({ length: 60 }, (_, index) => index);
    expect(await runScript("foreign-child", mode)).toEqual({ theirs: codes, own: codes });
  });
});

(namespace ? describe : describe.skip)("execwire run as PID 1", () => {
  const asInit = (script: string) => runProgram([...(namespace ?? []), ...cliArgv("run", "--", "sh", "-c", script)]);

  it("passes on the exit code and a death by signal", async () => {
    const ends = await Promise.all([asInit("exit 7"), asInit("kill -USR1 $$")]);
    expect(ends.map(({ code, stderr }) => [code, stderr])).toEqual([
      [7, ""],
      [138, ""],
    ]);
  });

  it("leaves no zombie of double forks while it runs", async () => {
    const script = `
      echo $$ first, $PPID parent
      i=0; while [ $i -lt 100 ]; do (sleep 0.05 &); (setsid sleep 0.05 &); i=$((i + 1)); done
      count() { cat /proc/[0-9]*/status 2>/dev/null | grep -c "^$1"; }
      tries=0
      while [ $tries -lt 100 ] && [ "$(count Name:.sleep)" != 0 ]; do command sleep 0.05; tries=$((tries + 1)); done
      echo "$(count Name:.sleep) left, $(count State:.Z) zombies"
      exit 3`;
    const { code, stdout, stderr } = await asInit(script);
    expect({ code, stdout: stdout.replace(/^\d+ /, ""), stderr }).toEqual({
      code: 3,
      stdout: "first, 1 parent\n0 left, 0 zombies\n",
      stderr: "",
    });
  }, 30_000);

  it("ends the background jobs of its command, and then exits", async () => {
    const { code, stdout } = await asInit(
      "(setsid sleep 300 <&- >&- 2>&- &); (sleep 300 <&- >&- 2>&- &); echo done; exit 4",
    );
    expect([code, stdout]).toEqual([4, "done\n"]);
  });
});
