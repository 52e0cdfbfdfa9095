// A request whose reply was lost is sent again: it takes effect once, and its caller gets the outcome of the first time.
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { filter, firstValueFrom } from "rxjs";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import type { Process } from "../../lib/process/process.ts";
import { exitOf, outcome, printed } from "../support/outcome.ts";
import { fixture, sh } from "../support/programs.ts";
import { settled } from "../support/system-wait.ts";
import { WireHost } from "../support/wire-host.ts";
import { comesBack } from "../support/wire-link.ts";

describe("a request whose reply was lost", () => {
  let host: WireHost;
  let client: RemoteBackend;
  beforeAll(async () => {
    host = await WireHost.open({ limits: { stdinQueueBytes: 1000, requests: 8 } });
    client = await host.connect();
  });
  afterAll(() => host.close());

  /** Holds the replies back until `executed`, then cuts the connection, so that they are lost. */
  async function loseReply<T>(call: () => Promise<T>, executed: () => Promise<unknown>): Promise<T> {
    host.proxy.hold("down");
    const result = call();
    await executed();
    host.proxy.cut();
    host.proxy.release();
    return result;
  }

  const here = (process: Process) => host.supervisor.attach(process.id);

  it("starts only one process", async () => {
    const { changes$ } = host.supervisor;
    const running = firstValueFrom(changes$.pipe(filter(({ state }) => state === "running")));
    const known = (await host.supervisor.list()).length;
    const process = await loseReply(
      () => client.start({ argv: sh("echo $$; read line"), pipeStdin: true }),
      () => running,
    );
    const list = await host.supervisor.list();
    expect(list.length).toBe(known + 1);
    expect(await printed(process, "\n")).toBe(`${list.at(-1)?.pid}\n`);
    await process.closeStdin();
    await exitOf(process);
  });

  it("reports a failed start with its first error", async () => {
    const changed = firstValueFrom(host.supervisor.changes$.pipe(filter(({ state }) => state === "removed")));
    const starting = loseReply(
      () => client.start({ argv: ["/nowhere/to/be/found"] }),
      () => changed,
    );
    await expect(starting).rejects.toMatchObject({ code: "SPAWN_FAILED", data: { kind: "not-found" } });
  });

  it("delivers its signal only once", async () => {
    const process = await client.start({ argv: fixture("on-signal.mjs", "SIGUSR2=ignore", "SIGTERM=0") });
    await printed(process, "ready");
    const local = await here(process);
    await loseReply(
      () => process.signal("SIGUSR2"),
      () => printed(local, "SIGUSR2"),
    );
    await process.signal("SIGTERM");
    expect((await outcome(process)).stdout).toBe("ready\nSIGUSR2\nSIGTERM\n");
  });

  it("writes its line only once", async () => {
    const process = await client.start({ argv: ["/bin/cat"], pipeStdin: true });
    const local = await here(process);
    const status = await loseReply(
      () => process.write("once\n"),
      () => printed(local, "once"),
    );
    expect(status).toBe("accepted");
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe("once\n");
  });

  it("closes stdin once, and is answered with `accepted` although stdin is already closed", async () => {
    const process = await client.start({ argv: ["/bin/cat"], pipeStdin: true });
    const local = await here(process);
    const status = await loseReply(
      () => process.closeStdin(),
      () => exitOf(local),
    );
    expect(status).toBe("accepted");
  });

  it("terminates a process once, and is answered that it was running", async () => {
    const process = await client.start({ argv: ["/bin/sleep", "600"] });
    const local = await here(process);
    const answer = await loseReply(
      () => process.terminate(),
      () => exitOf(local),
    );
    expect(answer).toEqual({ running: true });
  });

  /** A process that reads nothing before SIGUSR1, with a queue that one write of `x` fills. */
  async function stalled(): Promise<Process> {
    const process = await client.start({
      argv: sh("trap go=1 USR1; echo ready; while [ -z $go ]; do /bin/sleep 0.01; done; exec /usr/bin/tr -d x"),
      pipeStdin: true,
    });
    await printed(process, "ready\n");
    await process.write("x".repeat(200_000));
    return process;
  }

  const drained = "ready\n";

  it("waits for room in the queue only once, although it was sent twice", async () => {
    const process = await stalled();
    const writes = [process.write("a\n"), process.write("b\n", { writeId: "b" })];
    // The reply to a later request shows that the server has handled both writes.
    await process.read();
    host.proxy.cut();
    await comesBack(client);
    writes.push(process.write("b\n", { writeId: "b" }));
    await process.read();
    await process.signal("SIGUSR1");
    expect(await Promise.all(writes)).toEqual(["accepted", "accepted", "accepted"]);
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe(`${drained}a\nb\n`);
  });

  it("does not count against the limit of requests when it is sent again", async () => {
    const process = await stalled();
    // These are all 8 requests of the session; each waits for room.
    const writes = Promise.all(Array.from({ length: 8 }, (_, index) => process.write(`${index}\n`)));
    writes.catch(() => undefined);
    await process.read();
    await expect(process.write("nine")).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", data: { limit: "requests" } });
    host.proxy.cut();
    await comesBack(client);
    const local = await here(process);
    await local.signal("SIGUSR1");
    expect(await writes).toEqual(Array(8).fill("accepted"));
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe(`${drained}0\n1\n2\n3\n4\n5\n6\n7\n`);
  });

  it("is acknowledged by its write id after thousands of other writes, until the id is forgotten", async () => {
    const process = await client.start({ argv: ["/bin/cat"], pipeStdin: true });
    let sum = "";
    // Five at a time: fewer than the requests of a session, and far faster than one by one.
    for (let first = 0; first < 4_200; first += 5) {
      if (first > 0 && first % 1_000 === 0) host.proxy.cut();
      const five = Array.from({ length: 5 }, (_, index) => first + index);
      sum += five.map((index) => `${index}\n`).join("");
      await Promise.all(five.map((index) => process.write(`${index}\n`, { writeId: `id ${index}` })));
    }
    // The last 4,096 ids are remembered, earlier ones are not.
    expect(await process.write("4199\n", { writeId: "id 4199" })).toBe("accepted");
    expect(await process.write("0\n", { writeId: "id 0" })).toBe("accepted");
    await process.closeStdin();
    expect((await outcome(process)).stdout).toBe(`${sum}0\n`);
  });

  it("does not make a process wait for a starter that only awaits its exit, when it was started without a connection", async () => {
    host.proxy.refuse();
    await settled(
      () => client.link.state,
      (state) => state === "recovering",
    );
    const starting = client.start({ argv: sh("/usr/bin/head -c 4000000 /dev/zero") });
    host.proxy.admit();
    expect(await exitOf(await starting)).toMatchObject({ exitCode: 0 });
  });
});
