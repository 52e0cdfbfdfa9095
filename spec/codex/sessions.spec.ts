// Sessions of the Codex protocol over connections that end: no output is lost, and no process or client waits for a dead peer.
import { once } from "node:events";
import { afterEach, describe, expect, it } from "@jest/globals";
import { lastValueFrom, type Observable, scan, takeWhile } from "rxjs";
import { connect } from "../../lib/connect.ts";
import { type GapNotice, limits, type OutputEvent } from "../../protocol/index.ts";
import { CODEX_TOKEN, CodexHost } from "../support/codex-host.ts";
import { type CodexPeer, type CodexRead, startParams } from "../support/codex-peer.ts";
import { FakeClock } from "../support/fake-clock.ts";
import { allGone } from "../support/trees.ts";

let host: CodexHost;
afterEach(() => host.close());

const bytesOf = ({ chunks }: CodexRead) => Buffer.concat(chunks.map(({ chunk }) => Buffer.from(chunk, "base64")));

/** Completes when so many bytes have been printed. */
const sizeReaches = (bytes: number) => (output$: Observable<OutputEvent | GapNotice>) =>
  output$.pipe(
    scan((sum, event) => sum + (event.type === "output" ? event.chunk.length : (event.bytes ?? 0)), 0),
    takeWhile((sum) => sum < bytes, true),
  );

/** The pid that a process printed as its first line. */
async function pidOf(peer: CodexPeer, processId: string): Promise<number> {
  return peer.until(() => Number(/^(\d+)\n/.exec(peer.textOf(processId))?.[1]) || undefined);
}

describe("a detached session", () => {
  it("gets 40 MB that a process printed meanwhile in one reply, which the real client accepts", async () => {
    host = await CodexHost.open();
    const first = await host.connect();
    const bytes = 40_000_000;
    await first.start("p", `read go < /dev/stdin; head -c ${bytes} /dev/zero; exit 3`, { pipeStdin: true });
    await first.cut();
    // Another client makes it continue while no client is attached.
    const native = await connect(host.url, { token: CODEX_TOKEN });
    const [info] = await native.list();
    const process = await native.attach(info?.processId as string);
    await process.write("go\n");
    await lastValueFrom(process.exit$);
    await native.close();
    const second = await host.resume(first.sessionId);
    const read = await second.read("p", 0);
    expect(bytesOf(read).length).toBe(bytes);
    expect(read).toMatchObject({ exited: true, exitCode: 3, closed: true });
    expect(read.chunks.length).toBeLessThan(50_000);
    expect(second.largest).toBeLessThan(60 * 1024 * 1024);
    // Consecutive, except for the seq of the exit.
    const seqs = read.chunks.map(({ seq }) => seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(read.nextSeq).toBe(seqs.length + 3);
  });

  it("continues without holes or duplicates when it is cut in the middle of a flood, again and again", async () => {
    host = await CodexHost.open();
    let peer = await host.connect();
    const { sessionId } = peer;
    const bytes = 24_000_000;
    await peer.start("p", `head -c ${bytes} /dev/zero; exit 3`);
    let next = 1;
    let received = 0;
    let isClosed = false;
    const take = (seq: number, chunk: string | undefined) => {
      if (seq < next) return;
      expect(seq).toBe(next);
      next += 1;
      received += Buffer.from(chunk ?? "", "base64").length;
    };
    for (let cuts = 0; !isClosed; cuts += 1) {
      const target = received + 4_000_000;
      const looked = { at: 0 };
      await peer.until(() => {
        for (; looked.at < peer.received.length; looked.at += 1) {
          const message = peer.received[looked.at];
          if (!message || !("method" in message)) continue;
          take(message.params.seq, message.params.chunk);
          isClosed ||= message.method === "process/closed";
        }
        return isClosed || (cuts < 5 && received >= target) || undefined;
      });
      if (isClosed) break;
      await peer.cut();
      peer = await host.resume(sessionId);
      const read = await peer.read("p", next - 1);
      for (const { seq, chunk } of read.chunks) {
        // The exit has a seq and no chunk.
        if (read.exited && seq === next + 1) next += 1;
        take(seq, chunk);
      }
      next = Math.max(next, read.nextSeq);
      isClosed ||= read.closed;
    }
    expect(received).toBe(bytes);
  });

  it("gets no notifications after a resume before it has read, and then what follows", async () => {
    host = await CodexHost.open();
    const first = await host.connect();
    await first.start("p", "while :; do echo tick; done");
    await first.until(() => first.pushesOf("p")[0]);
    await first.cut();
    const second = await host.resume(first.sessionId);
    const read = await second.read("p", 0);
    const replyAt = second.received.findIndex((message) => "id" in message && message.id === 2);
    expect(second.received.slice(0, replyAt).filter((message) => "method" in message)).toEqual([]);
    const push = await second.until(() => second.pushesOf("p")[0]);
    expect(push.params.seq).toBe(read.nextSeq);
    await second.call("process/terminate", { processId: "p" });
    await second.closed("p");
  });

  it("gets notifications of new events a second after a resume, even if it never reads", async () => {
    const clock = new FakeClock();
    host = await CodexHost.open({ clock });
    const first = await host.connect();
    await first.start("p", "echo before; read go; echo after", { pipeStdin: true });
    await first.until(() => first.pushesOf("p")[0]);
    await first.cut();
    const second = await host.resume(first.sessionId);
    await second.call("process/write", { processId: "p", chunk: "Cg==", writeId: "1" });
    await host.supervisor
      .list()
      .then(([info]) => host.supervisor.attach(info?.processId as string))
      .then((process) => lastValueFrom(process.closed$));
    await second.call("environment/status");
    expect(second.pushesOf("p")).toEqual([]);
    clock.advance(1000);
    await second.closed("p");
    expect(second.textOf("p")).toBe("after\n");
  });

  it("keeps what the client missed until the client has read it, while new events are pushed", async () => {
    const clock = new FakeClock();
    host = await CodexHost.open({ clock });
    const first = await host.connect();
    const missed = 4_000_000;
    await first.start("p", `head -c ${missed} /dev/zero; read go; head -c 8000000 /dev/zero; exit 3`, {
      pipeStdin: true,
    });
    await first.cut();
    const [info] = await host.supervisor.list();
    const process = await host.supervisor.attach(info?.processId as string);
    await lastValueFrom(process.output$.pipe(sizeReaches(missed)));
    const second = await host.resume(first.sessionId);
    clock.advance(1000);
    await second.call("process/write", { processId: "p", chunk: "Cg==", writeId: "1" });
    await second.closed("p");
    // The pongs for all of that do not acknowledge what came before.
    let afterSeq = 0;
    let bytes = 0;
    for (let read = await second.read("p", 0, { maxBytes: 65_536 }); ; ) {
      expect(read.chunks[0]?.seq ?? afterSeq + 1).toBe(afterSeq + 1);
      bytes += bytesOf(read).length;
      afterSeq = read.nextSeq - 1;
      if (bytes >= missed) break;
      read = await second.read("p", afterSeq, { maxBytes: 65_536 });
    }
    expect(bytes).toBeGreaterThanOrEqual(missed);
  });

  it("gets the events of a process whose start was still pending when its client reconnected", async () => {
    host = await CodexHost.open();
    const first = await host.connect();
    // Starts wait for earlier file operations, and this one takes a while.
    const options = { maxDepth: 8, maxDirectories: 3000, maxEntries: 30_000, followDirectorySymlinks: false };
    first.ask("fs/walk", { path: "file:///usr", options });
    first.ask("process/start", startParams("late", "echo late; exit 3"));
    await first.call("environment/status");
    await first.cut();
    const second = await host.resume(first.sessionId);
    await second.closed("late");
    expect(second.textOf("late")).toBe("late\n");
  });

  it("ends with its processes if its client does not reconnect in time", async () => {
    const clock = new FakeClock();
    host = await CodexHost.open({ clock });
    const peer = await host.connect();
    await peer.start("p", "trap '' TERM; echo $$; while :; do sleep 1; done");
    const pid = await pidOf(peer, "p");
    await peer.cut();
    await host.resume(peer.sessionId).then((again) => again.cut());
    // The server notices the cut in a turn of its own.
    const gone = async () => {
      for (;;) {
        clock.advance(limits.sessionTtlMs);
        const known = await host.connect(peer.sessionId).then(
          (again) => again.cut().then(() => true),
          (error: { code: number }) => error.code === -32010,
        );
        if (!known) return;
      }
    };
    await gone();
    await allGone(pid);
  });
});

describe("an attached session", () => {
  it("is not passed to another client while its client answers, and is if its client is dead", async () => {
    const clock = new FakeClock();
    host = await CodexHost.open({ clock });
    const first = await host.connect();
    const pinged = once(first.socket, "ping");
    await expect(host.connect(first.sessionId)).rejects.toMatchObject({ code: -32010 });
    await pinged;
    // The pong is sent before this call.
    expect((await first.call("environment/status")).result).toEqual({ status: "ready" });
    clock.advance(3000);
    await expect(host.connect(first.sessionId)).rejects.toMatchObject({ code: -32010 });
    await first.call("environment/status");
    first.socket.pause();
    await expect(host.connect(first.sessionId)).rejects.toMatchObject({ code: -32010 });
    clock.advance(3000);
    const second = await host.resume(first.sessionId);
    expect(second.sessionId).toBe(first.sessionId);
  });

  it("loses nothing while its client does not read, and the child waits meanwhile", async () => {
    host = await CodexHost.open();
    const peer = await host.connect();
    const bytes = 60_000_000;
    await peer.start("p", `head -c ${bytes} /dev/zero; exit 3`);
    await peer.until(() => peer.pushesOf("p")[0]);
    peer.socket.pause();
    const [info] = await host.supervisor.list();
    const process = await host.supervisor.attach(info?.processId as string);
    // Long enough for a child that does not have to wait: another one prints the same meanwhile.
    const other = await host.supervisor.start({ argv: ["/usr/bin/head", "-c", String(bytes), "/dev/zero"] });
    await lastValueFrom(other.closed$);
    expect(process.info.state).toBe("running");
    peer.socket.resume();
    await peer.closed("p");
    const seqs = peer.pushesOf("p").map(({ params }) => params.seq);
    expect(seqs).toEqual(seqs.map((_, index) => index + 1));
    expect(peer.textOf("p").length).toBe(bytes);
  });

  it("is closed with 1001 when the server stops, and with 1009 for a message that is too large", async () => {
    host = await CodexHost.open();
    const large = await host.connect();
    large.socket.send("x".repeat(64 * 1024 * 1024 + 1));
    expect((await once(large.socket, "close"))[0]).toBe(1009);
    const peer = await host.connect();
    const closed = once(peer.socket, "close");
    await host.server.close();
    expect((await closed)[0]).toBe(1001);
  });
});
