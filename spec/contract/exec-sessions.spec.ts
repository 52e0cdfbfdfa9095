// What an agent does with processes, on every backend: poll a running server, type a password, survive a flood, stop programs.
import { writeFileSync } from "node:fs";
import { afterAll, beforeAll, expect, it } from "@jest/globals";
import type { ExecResult } from "../../lib/exec/sessions/session-types.ts";
import { type ExecSessions, openExecSessions } from "../../lib/exec/sessions/sessions.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { settled } from "../support/system-wait.ts";
import { allGone, numbersIn } from "../support/trees.ts";
import { describeBackends, KINDS } from "./backends.ts";

/** Shorter than by default, so that a poll without output does not take five seconds. */
const limits = { minPollMs: 250, pollYieldMs: 250 };
const FLOOD = 100_000_000;

const scratch = makeScratch();
let count = 0;

describeBackends(
  "exec sessions",
  (subject) => {
    let sessions: ExecSessions;
    beforeAll(() => {
      sessions = openExecSessions(subject.backend, { limits });
    });
    afterAll(() => sessions.close({ graceMs: 0 }));

    /** Polls until the output contains the marker, or no more output can come; returns all output of these polls. */
    async function pollUntil(id: number, marker: string): Promise<{ text: string; last: ExecResult }> {
      let text = "";
      for (;;) {
        const last = await sessions.poll(id, { yieldMs: 5_000, quietMs: 0 });
        text += `${last.head}${last.tail}`;
        if (text.includes(marker) || last.sessionId === undefined) return { text, last };
      }
    }

    it("returns output and exit of a short command, and keeps no session", async () => {
      const answer = await sessions.start({ argv: sh("echo out; echo err >&2; exit 3"), yieldMs: 20_000 });
      expect(answer).toMatchObject({
        exited: true,
        exitCode: 3,
        outputClosed: true,
        outputDrained: true,
        omittedBytes: 0,
      });
      expect(answer.head.split("\n").sort()).toEqual(["", "err", "out"]);
      expect(answer.sessionId).toBeUndefined();
      expect(JSON.parse(JSON.stringify(answer))).toEqual(answer);
    });

    it("refuses a failed start with the error of the backend", async () => {
      expect(await refusal(sessions.start({ argv: ["/nowhere/program"] }))).toMatchObject({ code: "SPAWN_FAILED" });
      expect(sessions.list().filter(({ state }) => state === "running")).toEqual([]);
    });

    it("polls a server that keeps running, and stops it", async () => {
      const script = "echo listening; while read line; do echo request $line; done";
      const started = await sessions.start({ argv: sh(script), pipeStdin: true, quietMs: 0 });
      const id = started.sessionId as number;
      expect(started).toMatchObject({ exited: false, head: "listening\n" });
      expect(await sessions.poll(id)).toMatchObject({ sessionId: id, head: "", exited: false });
      expect(await sessions.write(id, { chars: "one\n", quietMs: 0, yieldMs: 20_000 })).toMatchObject({
        head: "request one\n",
        input: "accepted",
      });
      expect(sessions.list()).toMatchObject([{ sessionId: id, state: "running", stdin: true, unreadBytes: 0 }]);
      const stopped = await sessions.stop(id);
      expect(stopped).toMatchObject({ exited: true, outputClosed: true });
      expect(await refusal(sessions.poll(id))).toMatchObject({ code: "PROCESS_UNKNOWN" });
    });

    it("types a password that the terminal does not echo", async () => {
      const script =
        'stty -echo; printf "password: "; read secret; stty echo; echo; test "$secret" = hunter2 && echo welcome';
      const started = await sessions.start({ argv: sh(script), tty: true, quietMs: 50, yieldMs: 20_000 });
      expect(started).toMatchObject({ exited: false, head: "password: " });
      const answer = await sessions.write(started.sessionId as number, { chars: "hunter2\n", yieldMs: 20_000 });
      expect(answer).toMatchObject({ exitCode: 0, input: "accepted", head: "\r\nwelcome\r\n" });
    });

    it("interrupts a program on a terminal with Ctrl-C", async () => {
      const started = await sessions.start({
        argv: sh("echo ready; sleep 60"),
        tty: true,
        quietMs: 0,
        yieldMs: 20_000,
      });
      const answer = await sessions.write(started.sessionId as number, { chars: "\u0003", yieldMs: 20_000 });
      expect(answer).toMatchObject({ exited: true, input: "accepted" });
      expect(answer.exitCode).not.toBe(0);
    });

    it("interrupts a program on pipes with a signal", async () => {
      const script = 'trap "echo caught; exit 7" INT; echo ready; while :; do sleep 0.05; done';
      const started = await sessions.start({ argv: sh(script), quietMs: 0, yieldMs: 20_000 });
      const answer = await sessions.signal(started.sessionId as number, "SIGINT", { yieldMs: 20_000 });
      expect(answer).toMatchObject({ exitCode: 7, head: "caught\n" });
    });

    it("refuses input for a program without stdin", async () => {
      const started = await sessions.start({ argv: sh("echo ready; exec sleep 60"), quietMs: 0 });
      const id = started.sessionId as number;
      expect(await sessions.write(id, { chars: "x" })).toMatchObject({ input: "stdinClosed", exited: false });
      await sessions.stop(id, { graceMs: 0 });
    });

    it("returns both ends of a flood within a small budget, and counts the omitted bytes", async () => {
      const script = `echo begin; head -c ${FLOOD} /dev/zero | tr '\\0' x; echo; echo end`;
      const budget = { bytes: 2_000 };
      let answer = await sessions.start({ argv: sh(script), yieldMs: 30_000, budget });
      const head = answer.head;
      let omitted = answer.omittedBytes;
      // A slow machine or connection may need longer than the longest call.
      while (answer.sessionId !== undefined) {
        omitted += Buffer.byteLength(answer.tail);
        answer = await sessions.poll(answer.sessionId, { yieldMs: 30_000, budget });
        omitted += answer.omittedBytes + (answer.omittedBytes > 0 ? Buffer.byteLength(answer.head) : 0);
      }
      expect(answer).toMatchObject({ exitCode: 0, outputDrained: true });
      expect(head.startsWith("begin\nxxxx")).toBe(true);
      expect(answer.tail.endsWith("xxxx\nend\n")).toBe(true);
      expect(Buffer.byteLength(head) + Buffer.byteLength(answer.tail)).toBeLessThanOrEqual(2_000);
      expect(Buffer.byteLength(head) + omitted + Buffer.byteLength(answer.tail)).toBe(FLOOD + "begin\n\nend\n".length);
    }, 120_000);

    it("keeps input and output of ten sessions apart", async () => {
      const numbers = [...Array(10).keys()];
      const starts = numbers.map((number) =>
        sessions.start({
          argv: sh(`echo ready; read x; echo ${number} got $x; exit ${number}`),
          pipeStdin: true,
          quietMs: 0,
        }),
      );
      const ids = (await Promise.all(starts)).map(({ sessionId }) => sessionId as number);
      expect(new Set(ids).size).toBe(10);
      const answers = await Promise.all(
        ids.map((id, number) => sessions.write(id, { chars: `${number}\n`, yieldMs: 20_000 })),
      );
      expect(answers.map(({ head, exitCode }) => [head, exitCode])).toEqual(
        numbers.map((number) => [`${number} got ${number}\n`, number]),
      );
    });

    it("reports an exit while a background job keeps the output open, and later the output of that job", async () => {
      const script = '(until test -e "$1"; do sleep 0.02; done; echo late) & echo now; exit 5';
      const go = scratch(`go-${++count}`);
      const started = await sessions.start({ argv: sh(script, go), yieldMs: 20_000 });
      expect(started).toMatchObject({
        exited: true,
        exitCode: 5,
        outputClosed: false,
        outputDrained: false,
        head: "now\n",
      });
      writeFileSync(go, "");
      const { text, last } = await pollUntil(started.sessionId as number, "late");
      expect(text).toBe("late\n");
      const end = last.sessionId === undefined ? last : await sessions.poll(last.sessionId, { yieldMs: 5_000 });
      expect(end).toMatchObject({ exitCode: 5, outputClosed: true, outputDrained: true });
    });

    it("reports an exit that comes shortly after yieldMs in the same call", async () => {
      const patient = openExecSessions(subject.backend, { limits: { ...limits, earlyExitMs: 15_000 } });
      const answer = await patient.start({ argv: sh("sleep 0.5; echo done; exit 6"), yieldMs: 250 });
      expect(answer).toMatchObject({ exited: true, exitCode: 6, head: "done\n" });
      expect(answer.sessionId).toBeUndefined();
      await patient.close();
    });

    it("delivers each byte once to concurrent polls", async () => {
      const script = "read x; i=0; while test $i -lt 200; do echo $i; i=$((i+1)); done";
      const started = await sessions.start({ argv: sh(script), pipeStdin: true, yieldMs: 250 });
      const id = started.sessionId as number;
      const polls = [1, 2, 3].map(() => sessions.poll(id, { yieldMs: 20_000, quietMs: 0 }));
      const last = await sessions.write(id, { chars: "\n", yieldMs: 20_000 });
      const heads = [...(await Promise.all(polls)).map(({ head }) => head), last.head];
      const all = heads.join("").trim().split("\n").map(Number);
      expect(all.sort((one, other) => one - other)).toEqual([...Array(200).keys()]);
    });

    it("stops a program with all its children", async () => {
      const argv = sh('sleep 60 & echo $!; sh -c "sleep 60 & echo \\$!; wait" & wait');
      const started = await sessions.start({ argv, quietMs: 200, yieldMs: 20_000 });
      const pids = numbersIn(started.head);
      expect(pids).toHaveLength(2);
      expect(pids.every(isAlive)).toBe(true);
      expect(await sessions.stop(started.sessionId as number)).toMatchObject({ exited: true, outputClosed: true });
      await allGone(...pids);
    });

    subject.needs("terminatesWithGrace")("stops a child that has left the process group", async () => {
      const script = "setsid sh -c 'echo $$; exec sleep 60' & wait";
      const started = await sessions.start({ argv: sh(script), quietMs: 0, yieldMs: 20_000 });
      const pids = numbersIn(started.head);
      expect(pids.filter(isAlive)).toHaveLength(1);
      await sessions.stop(started.sessionId as number);
      await allGone(...pids);
    });

    subject.needs("killAfterExit")("stops the processes that an exited program has left behind", async () => {
      const started = await sessions.start({ argv: sh("sleep 60 & echo $!; exit 2"), yieldMs: 20_000 });
      expect(started).toMatchObject({ exitCode: 2, outputClosed: false });
      const stopped = await sessions.stop(started.sessionId as number, { graceMs: 0 });
      expect(stopped).toMatchObject({ exitCode: 2, outputClosed: true });
      await allGone(...numbersIn(started.head));
    });

    it("ends the input of a program on a terminal", async () => {
      const started = await sessions.start({ argv: sh("echo ready; cat"), tty: true, quietMs: 0, yieldMs: 20_000 });
      const answer = await sessions.write(started.sessionId as number, { chars: "x\n", eof: true, yieldMs: 20_000 });
      expect(answer).toMatchObject({ exitCode: 0, input: "accepted", head: "x\r\nx\r\n" });
    });

    subject.needs("closesPipes")("ends the input of a program on a pipe", async () => {
      const started = await sessions.start({ argv: sh("cat; echo done"), pipeStdin: true, yieldMs: 250 });
      const answer = await sessions.write(started.sessionId as number, { chars: "x\n", eof: true, yieldMs: 20_000 });
      expect(answer).toMatchObject({ exitCode: 0, input: "accepted", head: "x\ndone\n" });
    });

    it("ends its own processes when it closes, and no others", async () => {
      const other = await subject.start({ argv: sh("echo $$; exec sleep 60") });
      const own = openExecSessions(subject.backend, { limits });
      const starts = [1, 2].map(() => own.start({ argv: sh("echo $$; exec sleep 60"), quietMs: 0, yieldMs: 20_000 }));
      const pids = (await Promise.all(starts)).flatMap(({ head }) => numbersIn(head));
      expect(pids.every(isAlive)).toBe(true);
      await own.close({ graceMs: 0 });
      await allGone(...pids);
      expect(other.info.state).toBe("running");
      await other.terminate();
      expect(await refusal(own.start({ argv: sh("true") }))).toMatchObject({ code: "CLOSED" });
    });
  },
  {},
  KINDS,
);

describeBackends(
  "exec sessions after the retention",
  (subject) => {
    it("still return the output and exit of a process that the backend has removed", async () => {
      await using sessions = openExecSessions(subject.backend, { limits });
      const started = await sessions.start({ argv: sh("read x; echo the end; exit 9"), tty: true, yieldMs: 250 });
      const follower = await subject.backend.attach(started.processId);
      await follower.write("\n");
      const isKnown = async () =>
        (await subject.backend.list()).some(({ processId }) => processId === started.processId);
      expect(await settled(isKnown, (known) => !known, 15_000)).toBe(false);
      const answer = await sessions.poll(started.sessionId as number, { yieldMs: 10_000 });
      expect(answer).toMatchObject({ exitCode: 9, head: "\r\nthe end\r\n", outputDrained: true });
    });
  },
  { closedRetentionMs: 100 },
  KINDS,
);
