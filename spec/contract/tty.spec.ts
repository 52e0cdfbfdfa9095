// Terminals: size, modes, control characters, and complete output up to the end.
import { randomBytes } from "node:crypto";
import { writeFileSync } from "node:fs";
import { expect, it } from "@jest/globals";
import { sha256 } from "../support/digest.ts";
import { end, exitOf, outcome, printed } from "../support/outcome.ts";
import { fixture, sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch } from "../support/scratch.ts";
import { closed, exited, output, transcript } from "../support/transcript.ts";
import { describeBackends } from "./backends.ts";

const scratch = makeScratch();

describeBackends("a tty", ({ supports, needs, start }) => {
  needs("setsTerminal")("delivers one stream, with lines that end in carriage return and newline", async () => {
    const process = await start({ argv: sh("echo out; read _; echo err >&2; read _"), tty: { echo: false } });
    await printed(process, "out\r\n");
    await process.write("\n");
    await printed(process, "err\r\n");
    await process.write("\n");
    expect(await transcript(process)).toEqual([
      output(1, "pty", "out\r\n"),
      output(2, "pty", "err\r\n"),
      exited(3),
      closed(4, { pty: 10 }),
    ]);
    expect(process.info).toMatchObject({ tty: true, stdin: true });
  });

  needs("reportsPid")("is the controlling terminal of a session that the child leads", async () => {
    const script = "for fd in 0 1 2; do test -t $fd || echo no $fd; done; echo hi > /dev/tty; ps -o pid=,sid= -p $$";
    const process = await start({ argv: sh(script), tty: true });
    const { pty } = await outcome(process);
    const pid = String(process.info.pid);
    expect(pty.trim().split(/\s+/)).toEqual(["hi", pid, pid]);
  });

  const stty = { argv: ["stty", "size"], env: { PATH: "/usr/bin:/bin" } };

  it("has 24 rows and 80 columns by default", async () => {
    expect((await outcome(await start({ ...stty, tty: true }))).pty).toBe("24 80\r\n");
  });

  needs("setsTerminal").each([
    ["the size of its spec", { rows: 50, cols: 132 }, "50 132\r\n"],
    ["the default for a missing dimension", { cols: 7 }, "24 7\r\n"],
  ])("starts with %s", async (_what, tty, pty) => {
    expect((await outcome(await start({ ...stty, tty }))).pty).toBe(pty);
  });

  needs("setsTerminal")("reports a new size to the program and to subscribers", async () => {
    const process = await start({ argv: fixture("terminal-size.mjs"), tty: { rows: 10, cols: 20, echo: false } });
    await printed(process, "10x20\r\n");
    await process.resize({ rows: 30, cols: 40 });
    await printed(process, "30x40\r\n");
    await process.closeStdin();
    expect(await transcript(process)).toEqual([
      output(1, "pty", "10x20\r\n"),
      { type: "resized", seq: 2, size: { rows: 30, cols: 40 } },
      output(3, "pty", "30x40\r\n"),
      exited(4),
      closed(5, { pty: 14 }),
    ]);
    await process.resize({ rows: 1, cols: 1 });
    expect(await transcript(process, 4)).toEqual([closed(5, { pty: 14 })]);
  });

  needs("refusesLongLines")("ends its input with the end-of-file character that the program has set", async () => {
    const process = await start({ argv: sh("stty -echo eof ^X; echo set; cat; echo after"), tty: true });
    await printed(process, "set\r\n");
    await process.write("\x04\n");
    await process.closeStdin();
    expect((await outcome(process)).pty).toBe("set\r\n\x04\r\nafter\r\n");
  });

  it("is the only kind of process that can be resized", async () => {
    const process = await start({ argv: sh("read _"), pipeStdin: true });
    expect(await refusal(process.resize({ rows: 1, cols: 1 }))).toEqual({ code: "UNSUPPORTED", data: {} });
    await process.write("\n");
    await end(process);
    expect(await refusal(process.resize({ rows: 1, cols: 1 }))).toEqual({ code: "UNSUPPORTED", data: {} });
  });

  needs("reportsSignals")("turns a typed Ctrl-C into SIGINT", async () => {
    const process = await start({ argv: sh("echo ready; exec sleep 1000"), tty: true });
    await printed(process, "ready");
    await process.write("\x03");
    expect(await exitOf(process)).toMatchObject({ exitCode: null, signal: "SIGINT", reason: "signal" });
  });

  needs("setsTerminal")("edits a line before the program reads it", async () => {
    const process = await start({ argv: sh('echo ready; read -r line; echo "<$line>"'), tty: { echo: false } });
    await printed(process, "ready");
    await process.write("abX\x7fc é\x7fd\n");
    expect((await outcome(process)).pty).toBe("ready\r\n<abc d>\r\n");
  });

  needs("setsTerminal")("does not echo input with echo off", async () => {
    const process = await start({
      argv: sh('echo ready; read -r line; printf %s "$line" | wc -c'),
      tty: { echo: false },
    });
    await printed(process, "ready");
    await process.write("secret\n");
    expect((await outcome(process)).pty).toBe("ready\r\n6\r\n");
  });

  needs("setsTerminal")("passes 65,536 random bytes unchanged in both directions in raw mode", async () => {
    const bytes = randomBytes(65_536);
    const process = await start({ argv: sh("printf :; exec head -c 65536"), tty: { raw: true } });
    await printed(process, ":");
    await process.write(bytes);
    const chunks: Uint8Array[] = [];
    for await (const event of process) if (event.type === "output") chunks.push(event.chunk);
    expect(sha256(...chunks)).toBe(sha256(Buffer.from(":"), bytes));
  });

  if (supports.presetsTerminal) {
    it("is in raw mode without echo before the program runs, so that early input is neither lost nor echoed", async () => {
      for (let run = 0; run < 10; run += 1) {
        const process = await start({ argv: ["head", "-c", "6"], tty: { raw: true } });
        await process.write("a\r\x03\x04\x11b");
        expect((await outcome(process)).pty).toBe("a\r\x03\x04\x11b");
      }
    });
  }

  needs("setsTerminal")("delivers all output from before the exit", async () => {
    const bytes = randomBytes(300_000);
    writeFileSync(scratch("tail"), bytes);
    for (let run = 0; run < 10; run += 1) {
      const process = await start({ argv: ["cat", scratch("tail")], tty: { raw: true } });
      const chunks: Uint8Array[] = [];
      for await (const event of process) if (event.type === "output") chunks.push(event.chunk);
      expect(sha256(...chunks)).toBe(sha256(bytes));
    }
  });

  needs("signals", "reportsSignals")("keeps a program running that closes its terminal", async () => {
    const process = await start({ argv: sh("exec <&- >&- 2>&-; while :; do sleep 0.01; done"), tty: true });
    expect((await process.read({ waitMs: 200 })).exited).toBe(false);
    await process.signal("SIGUSR1");
    expect(await outcome(process)).toMatchObject({ pty: "", exitCode: null, signal: "SIGUSR1" });
  });
});
