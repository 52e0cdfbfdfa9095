// A command started by `execwire run` sees what it would see if it were started directly.
import { closeSync, mkdirSync, openSync, readFileSync, realpathSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { describe, expect, it } from "@jest/globals";
import { reapOwn } from "../../lib/spawn/kill/foreign-children.ts";
import { Libc } from "../../lib/spawn/posix/libc.ts";
import { describeSandbox } from "../sandbox/sandbox-host.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { dist, installedArgv, type Ran, runProgram } from "../support/system-run.ts";
import { settled } from "../support/system-wait.ts";

const scratch = makeScratch();
const probe = new URL("../fixtures/own-state.sh", import.meta.url).pathname;
/** The head finds Node as `env` does. */
const env = { ...process.env, PATH: `${dirname(process.execPath)}:${process.env.PATH}` };
const bash = (script: string, ...args: string[]) => runProgram(["bash", "-c", script, "bash", ...args], { env });
/** Runs a script whose "$@" is the beginning of a command line of `execwire run`. */
const around = (script: string, ...options: string[]) => bash(script, ...installedArgv("run", ...options));
const bytes = (ran: Ran) => ran.stdout.replaceAll("\r", "");

/** One for each way in which a command is started. */
const WAYS = [["posix"], ["posix", "-t"], ["portable"], ["portable", "-t"]] as const;
const ways = WAYS.map(([spawner, ...tty]) => ({
  name: [spawner, ...tty].join(" "),
  options: ["--spawner", spawner, ...tty],
}));

describe.each(ways)("a command of execwire run with $name", ({ name, options }) => {
  const isTty = name.endsWith("-t");
  const isPosix = name.startsWith("posix");

  it("sees the limits, signals, masks, priority, environment and descriptors of a direct start", async () => {
    const file = scratch(uniqueName("input"));
    writeFileSync(file, "first\nsecond\n");
    // What nohup, nice, a subshell and a here-document leave behind.
    const script = `ulimit -Sn 777; ulimit -Sc 0; trap '' HUP USR1; umask 027; cd '${scratch("")}'
      exec 7<'${file}'; read -r _ <&7; exec 9>>'${file}.out' 12</dev/null
      exec nice -n 3 "$@" sh '${probe}' </dev/null`;
    const [direct, wrapped] = await Promise.all([bash(script, "env"), around(script, ...options, "--")]);
    // The mark by which descendants are known: see lib/spawn/kill/marks.ts.
    const withoutMark = (text: string) => text.replace(/^(Max file locks +)\S+ +/m, "$1");
    // node-pty closes what was inherited.
    const shown = (text: string) => (isPosix || !isTty ? text : text.split("descriptors\n")[0]);
    expect(shown(withoutMark(bytes(wrapped)))).toEqual(shown(withoutMark(bytes(direct))));
    expect([wrapped.stderr, wrapped.code, direct.code]).toEqual(["", 0, 0]);
    expect(direct.stdout).toMatch(/Max open files +777 /);
  });

  it("Q06 ignores what nohup and background jobs ignore, and so does execwire itself", async () => {
    const ran = await around(
      `trap '' HUP INT; "$@" sh -c 'echo up; read -r _; echo finished' <'${scratch("fifo")}' >'${scratch("out")}' 2>&1 & own=$!
       exec 5>'${scratch("fifo")}'
       until grep -q up '${scratch("out")}'; do :; done
       kill -HUP $own; kill -INT $own; echo >&5; wait $own; echo "code $?"; cat '${scratch("out")}'`.replace(
        /^/,
        `rm -f '${scratch("fifo")}' '${scratch("out")}'; : >'${scratch("out")}'; mkfifo '${scratch("fifo")}'; `,
      ),
      ...options,
      "-i",
      "--",
    );
    expect(bytes(ran).replace(/^\n/m, "")).toBe("code 0\nup\nfinished\n");
  });

  it("Q26 stays in a directory that was removed, and says so if it needs the name", async () => {
    const ran = await around(
      `mkdir '${scratch(name)}'; cd '${scratch(name)}'; rmdir '${scratch(name)}'
       "$@" -- echo here; "$@" -C / -- pwd; "$@" -C below -- pwd; echo $?`,
      ...options,
    );
    expect(bytes(ran)).toBe("here\n/\n125\n");
    expect(ran.stderr).toMatch(/execwire: the working directory was removed; name another one with --cwd\n/);
  });

  it("Q01 gets a substituted process as a file", async () => {
    expect(bytes(await around('"$@" cat <(echo substituted)', ...options, "--"))).toBe("substituted\n");
  });

  it("Q04 stays in a directory whose name is not UTF-8", async () => {
    const directory = `${scratch(uniqueName("d"))}$'\\xff'`;
    const ran = await around(
      `mkdir ${directory}; cd ${directory}; "$@" pwd | od -An -tx1 -v | tr -d " \\n"`,
      ...options,
      "--",
    );
    expect(ran.stdout).toMatch(isTty ? /ff0d0a$/ : /ff0a$/);
  });
});

describe("bytes that are not UTF-8", () => {
  it("Q04 reach the command unchanged as arguments and as variables", async () => {
    const script = `V=$'\\xe9' "$@" -e N=$'n\\xff' -- sh -c 'printf "%s|" "$V" "$N" "$@"' sh $'a\\xffb' $'\\xf0\\x9f\\x98' $'\\xc3\\xa9\\xed\\xb3\\xbf' ''`;
    const ran = await around(`${script.replace(/^/, "")} | od -An -tx1 -v`);
    const words = ["\xe9", "n\xff", "a\xffb", "\xf0\x9f\x98", "\xc3\xa9\xed\xb3\xbf", ""];
    expect(ran.stdout.replace(/\s+/g, "")).toBe(
      Buffer.from(words.map((word) => `${word}|`).join(""), "latin1").toString("hex"),
    );
  });

  it("are refused with the name of the argument where they cannot be passed", async () => {
    const portable = await around(`"$@" printf $'\\xff'`, "--spawner", "portable", "--");
    expect([portable.stderr, portable.code]).toEqual([
      "execwire: argument 1 with bytes that are not UTF-8 is not available with the portable spawner\n",
      125,
    ]);
  });
});

describe("an environment that no shell would pass on", () => {
  it("reaches the command entry by entry, in its order", async () => {
    const entries = [
      `PATH=${env.PATH}`,
      "TWICE=1",
      "without equals sign",
      "TWICE=2",
      "=without name",
      "BASH_FUNC_f%%=() { :; }",
      "a.b=c",
      "LATIN=\udce9",
      "SHLVL=7",
      "OLDPWD=/old",
      "_=/usr/bin/last",
    ];
    const libc = new Libc();
    const file = scratch("entries");
    const out = openSync(file, "w");
    const [path, ...args] = installedArgv("run", "--", "cat", "/proc/self/environ");
    const pid = await libc.spawn({
      file: path as string,
      argv: [path as string, ...args],
      env: entries,
      cwd: "/",
      stdin: "/dev/null",
      stdout: out,
      stderr: out,
      inheritFds: [],
    });
    closeSync(out);
    await settled(() => libc.peekExit(pid), Boolean);
    reapOwn(libc, pid);
    const expected = `${entries.join("\0").replace("\udce9", "\xe9")}\0`;
    expect(readFileSync(file, "latin1")).toBe(expected);
  });
});

describe.each(["posix", "portable"])("descriptors with the %s spawner", (spawner) => {
  it("share their position with the shell", async () => {
    const file = scratch(uniqueName("lines"));
    writeFileSync(file, "one\ntwo\nthree\n");
    const ran = await around(
      `exec 3<'${file}'; "$@" sh -c 'read -r line <&3; echo $line'; cat <&3`,
      "--spawner",
      spawner,
      "--",
    );
    expect(ran.stdout).toBe("one\ntwo\nthree\n");
  });

  it("of a pipe end for its reader when the command closes them", async () => {
    const ran = await around(
      `exec 3> >(cat >/dev/null; echo ended >'${scratch(spawner)}')
       "$@" sh -c 'exec 3>&-; until [ -s "$1" ]; do sleep 0.02; done; cat "$1"' sh '${scratch(spawner)}' 3>&3 & exec 3>&-; wait`,
      "--spawner",
      spawner,
      "--",
    );
    expect(ran.stdout).toBe("ended\n");
  });

  it("Q01 of make's jobserver reach a make below", async () => {
    const makefile = scratch(uniqueName("Makefile"));
    writeFileSync(makefile, "all:\n\t+@$(RUN) $(MAKE) -f $(FILE) below\nbelow: one two\none two:\n\t@echo made\n");
    const ran = await around(`make -f '${makefile}' -j2 RUN="$*" FILE='${makefile}' 2>&1`, "--spawner", spawner, "--");
    if (/make: command not found/.test(ran.stdout)) return;
    expect(ran.stdout.replace(/^make.*directory.*\n/gm, "")).toBe("made\nmade\n");
  });

  it("Q27 of stdin are the command's own with -i, and what it leaves is there for the next", async () => {
    const file = scratch(uniqueName("stdin"));
    writeFileSync(file, "1\n2\n3\n");
    const ran = await around(
      `while read -r line; do echo "$line"; "$@" true; done <'${file}'
       printf abcdef | { "$@" head -c 2; echo; cat; echo; }
       "$@" readlink /proc/self/fd/0 <'${file}'`,
      "--spawner",
      spawner,
      "-i",
      "--",
    );
    expect(ran.stdout.split("\n").slice(0, 3)).toEqual(["1", "2", "3"]);
    expect(ran.stdout.split("\n").at(-2)).toBe(realpathSync(file));
  });
});

describeSandbox("a sandboxed command of execwire run", () => {
  it("gets no descriptor that would lead out of its sandbox, and its stdin through a pipe", async () => {
    const script = `cd '${scratch("")}'; "$@" sh -c 'ls /proc/self/fd; readlink /proc/self/fd/0 | cut -c 1-5; cat' <&- 5>leak 0<<<typed`;
    const ran = await around(script, "-i", "--sandbox", "read-only", "--");
    expect(ran).toMatchObject({ stdout: "0\n1\n2\n3\npipe:\ntyped\n", stderr: "" });
  });
});

describe("what a program starts with the library", () => {
  it("has the soft limit of open files of the shell that started the program", async () => {
    const script = `import { createSupervisor, run } from ${JSON.stringify(join(dist, "lib/index.js"))};
      const supervisor = createSupervisor();
      const { stdout } = await run(supervisor, { argv: ["sh", "-c", "ulimit -Sn"] });
      console.log(stdout.text);
      await supervisor.close();`;
    const ran = await bash('ulimit -Sn 777; node --input-type=module -e "$1"; true', script);
    expect(ran).toMatchObject({ stdout: "777\n\n", stderr: "" });
  });
});

describe("what execwire serve starts", () => {
  it("Q03 has the soft limit of open files of before, and no ignored signals", async () => {
    mkdirSync(scratch("runtime"));
    const ran = await bash(
      `export XDG_RUNTIME_DIR='${scratch("runtime")}'; ulimit -Sn 777; trap '' HUP INT
       "$1" serve >'${scratch("url")}' 2>'${scratch("log")}' & server=$!
       until [ -s '${scratch("url")}' ]; do sleep 0.02; done
       kill -HUP $server; "$1" run --remote -- sh -c 'ulimit -Sn; grep SigIgn /proc/self/status'; kill $server; wait $server; echo $?`,
      ...installedArgv(),
    );
    expect(ran.stdout).toBe("777\nSigIgn:\t0000000000000000\n0\n");
  });
});
