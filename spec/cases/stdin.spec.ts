// Public bug reports about input: its end, lines too long for a terminal, programs that do not read, and retries.

import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import { filter, firstValueFrom } from "rxjs";
import type { Process } from "../../lib/process/process.ts";
import { limits } from "../../protocol/index.ts";
import { exitOf, outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { settled } from "../support/system-wait.ts";
import { WireHost } from "../support/wire-host.ts";
import { becomes } from "../support/wire-link.ts";
import { describeCases } from "./describe-cases.ts";

const MIB = 1024 * 1024;
/** Share of one CPU; a loop that retries without a pause uses all of it. */
const LARGEST_SHARE = 0.25;
const scratch = makeScratch();

describeCases("input", ({ start }) => {
  it("P30 a program that is started without input reads the end of its input at once", async () => {
    expect(await outcome(await start({ argv: ["cat"] }))).toMatchObject({ stdout: "", exitCode: 0 });
  });

  it("P30 a program that waits for input is reported as waiting for input", async () => {
    const process = await start({ argv: ["grep", "x"], pipeStdin: true });
    const activity = await settled(
      () => process.activity(),
      ({ state }) => state === "reading-stdin",
    );
    expect(activity).toEqual({ state: "reading-stdin", pid: process.info.pid, command: "grep x" });
    await process.closeStdin();
    expect(await exitOf(process)).toMatchObject({ exitCode: 1 });
  });

  it("P31 closeStdin ends only the input, after pending writes, and can be repeated", async () => {
    const process = await start({ argv: ["wc", "-c"], pipeStdin: true });
    const answers = [process.write("12"), process.write("345"), process.closeStdin(), process.closeStdin()];
    expect(await Promise.all(answers)).toEqual(Array(4).fill("accepted"));
    expect(await outcome(process)).toMatchObject({ stdout: "5\n", exitCode: 0 });
  });

  it("P33 a line too long for a terminal is refused instead of truncated, and accepted in raw mode", async () => {
    const script = "stty -echo; echo ready; head -n1 | wc -c";
    const line = `${"x".repeat(6000)}\n`;
    const process = await start({ argv: sh(script), tty: true });
    await printed(process, "ready");
    expect(await refusal(process.write(line))).toEqual({ code: "LIMIT_EXCEEDED", data: { limit: "ttyLine" } });
    await process.write("short\n");
    expect((await outcome(process)).pty).toBe("ready\r\n6\r\n");
    const raw = await start({ argv: sh(script), tty: { raw: true } });
    await printed(raw, "ready");
    expect(await raw.write(line)).toBe("accepted");
    expect((await outcome(raw)).pty).toBe("ready\n6001\n");
  });

  it("P34 a raw terminal that is not read costs no CPU, limits what can be written, and delays no other process", async () => {
    const deaf = await start({ argv: ["sleep", "60"], tty: { raw: true } });
    expect(await deaf.write(Buffer.alloc(4 * MIB, "x"))).toBe("accepted");
    let isParked = true;
    const parked = deaf.write("more").finally(() => {
      isParked = false;
    });
    let share = 1;
    for (let attempt = 0; attempt < 3 && share >= LARGEST_SHARE; attempt += 1) {
      const before = { wall: performance.now(), cpu: process.cpuUsage() };
      await exitOf(await start({ argv: ["sleep", "0.5"] }));
      const { user, system } = process.cpuUsage(before.cpu);
      share = (user + system) / 1000 / (performance.now() - before.wall);
    }
    expect(share).toBeLessThan(LARGEST_SHARE);
    const other = await start({ argv: ["cat"], tty: { raw: true } });
    for (const word of ["one", "two", "three"]) {
      await other.write(word);
      await printed(other, word);
    }
    expect(isParked).toBe(true);
    const rest = [1, 2].map(() => deaf.write(Buffer.alloc(limits.stdinParkedBytes / 2, "x")));
    expect(await refusal(rest[1] as Promise<unknown>)).toEqual({
      code: "LIMIT_EXCEEDED",
      data: { limit: "stdinParkedBytes" },
    });
    await Promise.all([deaf, other].map((each) => each.terminate({ graceMs: 0 })));
    expect(await Promise.all([parked, rest[0]])).toEqual(["stdinClosed", "stdinClosed"]);
  });

  it("P37 different bytes with a used write id are refused, and only the first bytes arrive", async () => {
    const process = await start({ argv: ["cat"], pipeStdin: true });
    expect(await process.write("a", { writeId: "w1" })).toBe("accepted");
    const refused = { code: "WRITE_ID_CONFLICT", data: { writeId: "w1" } };
    expect(await refusal(process.write("b", { writeId: "w1" }))).toEqual(refused);
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("a");
  });

  it("P39 a burst to a program that reads late arrives completely without another call", async () => {
    const process = await start({ argv: sh("sleep 0.5; wc -c"), pipeStdin: true });
    expect(await process.write(Buffer.alloc(MIB, "x"))).toBe("accepted");
    expect(await process.closeStdin()).toBe("accepted");
    expect((await outcome(process)).stdout).toBe(`${MIB}\n`);
  });

  it("P40 a repeated start with the same incarnation returns the same process, with other arguments a conflict", async () => {
    const incarnation = crypto.randomUUID();
    const spec = { argv: ["cat"], pipeStdin: true, labels: { one: "1", two: "2" } };
    const process = await start(spec, { incarnation });
    const again = await start({ labels: { two: "2", one: "1" }, pipeStdin: true, argv: ["cat"] }, { incarnation });
    expect(again.info.pid).toBe(process.info.pid);
    const refused = { code: "INVALID_PARAMS", data: { field: "incarnation" } };
    for (const other of [{ argv: ["cat", "-n"] }, { env: { A: "1" } }, { pipeStdin: false }]) {
      expect(await refusal(start({ ...spec, ...other }, { incarnation }))).toEqual(refused);
    }
    await process.closeStdin();
    expect(await exitOf(process)).toMatchObject({ exitCode: 0 });
  });

  it("P42 a secret typed with echo off is not in the output, even if typed before the program runs", async () => {
    const process = await start({ argv: sh("read x; echo got:$x"), tty: { echo: false } });
    await process.write("secret\n");
    expect((await outcome(process)).pty).toBe("got:secret\r\n");
  });
});

describe("a request that was cut off before its reply", () => {
  let host: WireHost;
  afterEach(() => host.close());

  /** Passes nothing on to the clients until `executed`, then cuts the connections with everything in them. */
  const loseReply = async (executed: Promise<unknown>) => {
    await executed;
    host.proxy.refuse();
    host.proxy.release();
  };

  it("P36 writes its line once, even if another client repeats it with the same id", async () => {
    host = await WireHost.open();
    const client = await host.connect();
    const process = await client.start({ argv: ["cat", "-n"], pipeStdin: true, onDetach: "keep" });
    const local = await host.supervisor.attach(process.id);
    host.proxy.hold("down");
    const write = { writeId: "w1" };
    const writing = process.write("line\n", write);
    await loseReply(printed(local, "line"));
    host.proxy.admit();
    expect([await writing, await process.write("line\n", write)]).toEqual(["accepted", "accepted"]);
    const other = await (await host.connect()).attach(process.id);
    expect(await other.write("line\n", write)).toBe("accepted");
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("     1\tline\n");
  });

  it("P40 is reported as lost if its outcome is unknown; another client that repeats it runs nothing twice", async () => {
    host = await WireHost.open();
    const client = await host.connect({ limits: { recoveryMs: 100 } });
    const file = scratch(uniqueName("starts"));
    const incarnation = crypto.randomUUID();
    const spec = {
      processId: "p1",
      argv: sh("echo x >> $1; read _", file),
      pipeStdin: true,
      onDetach: "keep",
    } as const;
    const running = firstValueFrom(host.supervisor.changes$.pipe(filter(({ state }) => state === "running")));
    host.proxy.hold("down");
    const lost = refusal(client.start(spec, { incarnation }));
    await loseReply(running);
    expect(await lost).toEqual({ code: "CONNECTION_LOST", data: { reason: "unreachable" } });
    await becomes(client, "closed");
    const second = await host.connectDirectly();
    const again: Process = await second.start(spec, { incarnation });
    expect(again.info.pid).toBe((await running).pid);
    const refused = { code: "INVALID_PARAMS", data: { field: "incarnation" } };
    expect(await refusal(second.start({ ...spec, argv: ["true"] }, { incarnation }))).toEqual(refused);
    expect(await refusal(second.start(spec))).toEqual({ code: "PROCESS_EXISTS", data: {} });
    await again.write("\n");
    expect(await exitOf(again)).toMatchObject({ exitCode: 0 });
    expect(readFileSync(file, "utf8")).toBe("x\n");
  });
});
