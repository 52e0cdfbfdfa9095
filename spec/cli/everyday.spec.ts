// Everyday command lines through env, nohup, timeout and execwire run: the same output and the same exit code.
import { chmodSync, mkdirSync, writeFileSync } from "node:fs";
import { dirname } from "node:path";
import { beforeAll, describe, expect, it } from "@jest/globals";
import { makeScratch } from "../support/scratch.ts";
import { installedArgv, runProgram } from "../support/system-run.ts";

const scratch = makeScratch();
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}`, LC_ALL: "C" };

beforeAll(() => {
  for (const [name, content] of Object.entries({
    a: "b\na\n",
    "b c": "x\n",
    plain: "no program\n",
    script: "#!/bin/sh\necho $# $1\n",
  })) {
    writeFileSync(scratch(name), content);
  }
  chmodSync(scratch("script"), 0o755);
  mkdirSync(scratch("folder"));
});

/** Bash scripts in which `w` runs a command through the wrapper, and `wi` also passes stdin. */
const LINES = [
  "w cat a 'b c'",
  "w sort a | w cat /dev/null - | wi sort -r",
  "w seq 100000 | head -n 2; echo $PIPESTATUS",
  "w sh -c 'trap \"echo trapped; exit 3\" TERM; kill -TERM $$; sleep 5'",
  "w find . -print0 | wi xargs -0 -n 1 echo | sort",
  "w git --version",
  "w make --version | head -n 1",
  "w tar cf - a 'b c' | wi tar tf -",
  "w sh -c 'echo \"$@\"' -- -x -- y",
  "w -- echo x 2>/dev/null | wc -c",
  "w printf \"$(printf '\\\\%03o' $(seq 1 255))\" | od -An -tx1",
  "wi cat <<'E'\nhere $HOME\nE",
  "wi dd bs=1 count=3 2>/dev/null <a; echo",
  "w seq 3 | wi tee copy$$; cat copy$$",
  "wi tty </dev/null",
  "w stty size </dev/null",
  "w sh -c 'ulimit -Sn; ulimit -Hn; ulimit -c; umask'",
  "w id",
  "w locale",
  "w env | grep -v '^_='",
  "w pwd",
  "w ./script '' 'two words'",
  "PATH=.:$PATH w script '*' '?'",
  "w sh -c 'exit 0'",
  'for c in 1 2 77 124 125 126 127 128 254 255; do w sh -c "exit $c"; echo $?; done',
  'for s in INT QUIT ILL TRAP ABRT FPE KILL USR1 SEGV USR2 PIPE ALRM TERM XCPU SYS; do w sh -c "kill -$s \\$\\$"; echo $?; done 2>/dev/null',
  "w missing-program 2>/dev/null; echo $?",
  "w ./plain 2>/dev/null; echo $?",
  "w ./folder 2>/dev/null; echo $?",
  "w sh -c 'echo out; echo err >&2; echo out' 2>&1 >/dev/null",
  "w cat missing",
  "printf 'a\\0b\\377' | wi od -c",
  "w sh -c 'cd folder && exec pwd'",
  "w sleep 0 && echo slept",
  "yes | wi head -n 1; echo $PIPESTATUS",
  "w test -e a; w test -e missing; echo $?",
  "w expr 1 + 1; w expr 0; echo $?",
  "w date -u -d @0 +%s",
  "w basename /a/b.c .c",
  "diff <(w echo 1) <(w echo 2)",
  'x=$(w echo captured); echo "[$x]"',
  "w sh -c 'sleep 0.05 & wait; echo waited'",
  "w awk 'BEGIN { exit 4 }'; echo $?",
  "w sed -n '$p' a",
  "w sh -c 'test -t 1; echo $?'",
  "w sh -c 'echo $0 $PPID' name 1>/dev/null; echo $?",
  "w ''  2>/dev/null; [ $? -ge 125 ]; echo $?",
];

const runLine = (line: string, wrapper: readonly string[], withStdin: readonly string[]) => {
  const quote = (words: readonly string[]) => words.map((word) => `'${word}'`).join(" ");
  // Without -i, stdin is /dev/null: also for the others.
  const script = `w() { ${quote(wrapper)} "$@" </dev/null; }; wi() { ${quote(withStdin)} "$@"; }\n${line}`;
  return runProgram(["bash", "-c", script], { env, cwd: scratch("") });
};

describe("an everyday command line", () => {
  it.each(LINES)("%s", async (line) => {
    const [direct, nohup, timeout, ours] = await Promise.all([
      runLine(line, ["env", "--"], ["env", "--"]),
      runLine(line, ["nohup", "--"], ["nohup", "--"]),
      runLine(line, ["timeout", "--", "60"], ["timeout", "--", "60"]),
      runLine(line, installedArgv("run", "--"), installedArgv("run", "-i", "--")),
    ]);
    expect({ nohup, timeout, ours }).toEqual({ nohup: direct, timeout: direct, ours: direct });
  });
});
