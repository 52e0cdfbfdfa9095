// A server that was restarted at the same address, with the same token: a client that wants it goes on with the new one. The server
// is a program of its own, which is killed or stopped.
import { readFileSync } from "node:fs";
import { afterEach, describe, expect, it } from "@jest/globals";
import { filter, firstValueFrom, lastValueFrom, map, scan, toArray } from "rxjs";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { type ConnectOptions, connect } from "../../lib/connect.ts";
import { lines } from "../../lib/process/lines.ts";
import type { Process } from "../../lib/process/process.ts";
import { outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch } from "../support/scratch.ts";
import { type HostedServer, makeSurroundings } from "../support/system-server.ts";
import { becomes } from "../support/wire-link.ts";

const user = makeSurroundings();
const tokenFile = makeScratch()("token");
const sessionLost = { code: "CONNECTION_LOST", data: { reason: "session-lost" } };
const clients: RemoteBackend[] = [];
let port = 0;
let server: HostedServer | undefined;

async function serve(): Promise<void> {
  server = await user.serve(["--listen", `ws://127.0.0.1:${port}`, "--token-file", tokenFile]);
  port = Number(new URL(server.url).port);
}

async function end(signal: NodeJS.Signals): Promise<void> {
  server?.child.kill(signal);
  await server?.ended;
  server = undefined;
}

async function client(options: ConnectOptions = {}): Promise<RemoteBackend> {
  const limits = { backoffFirstMs: 1, backoffLastMs: 20 };
  const made = await connect(`ws://127.0.0.1:${port}`, {
    token: readFileSync(tokenFile, "utf8").trim(),
    limits,
    ...options,
  });
  clients.push(made);
  return made;
}

async function readAll(process: Process): Promise<void> {
  for await (const _delivery of process);
}

afterEach(async () => {
  await Promise.all(clients.splice(0).map((each) => each.close({ graceMs: 0 })));
  await end("SIGTERM");
});

describe.each(["SIGKILL", "SIGTERM"] as const)("a server that is ended by %s and started again", (signal) => {
  it("is found by a client that renews its session, which announces what is lost", async () => {
    await serve();
    const backend = await client({ onSessionLost: "renew" });
    const renewed = firstValueFrom(backend.sessionRenewed$);
    const states = lastValueFrom(backend.link.state$.pipe(toArray()));
    const old = await backend.start({ argv: sh("echo before; exec sleep 300"), processId: "old", pipeStdin: true });
    await printed(old, "before\n");
    const exit = firstValueFrom(old.exit$).then(
      (event) => event.signal,
      (error) => error.data.reason ?? error.code,
    );
    await end(signal);
    await becomes(backend, "recovering");
    // Its outcome on the old server cannot be known.
    const write = refusal(old.write("x"));
    const list = backend.list();
    await serve();
    const { lost } = await renewed;
    // A server that stops may have time to report the exit, or the end of its session.
    const reasons = signal === "SIGKILL" ? ["session-lost"] : ["session-lost", "CLOSED", "SIGTERM"];
    expect(reasons).toContain(await exit);
    if (signal === "SIGKILL") {
      expect(lost.map(({ processId }) => processId)).toEqual(["old"]);
      expect(await refusal(lastValueFrom(lines(old)))).toEqual(sessionLost);
    }
    expect(await write).toEqual(sessionLost);
    expect(await list).toEqual([]);
    expect((await outcome(await backend.start({ argv: ["echo", "after"], processId: "old" }))).stdout).toBe("after\n");
    expect(await refusal(old.read())).toMatchObject({ code: "PROCESS_UNKNOWN" });
    await backend.close();
    expect(await states).toEqual(["connected", "recovering", "connected", "closed"]);
  });

  it("is found by a client that only watches the list, without an option", async () => {
    await serve();
    const backend = await client();
    const changes = backend.changes$.pipe(
      filter(({ processId }) => processId === "new"),
      map(({ state }) => state),
    );
    const closed = firstValueFrom(
      changes.pipe(
        scan((all, state) => [...all, state], [] as string[]),
        filter((all) => all.includes("closed")),
      ),
    );
    expect(await backend.list()).toEqual([]);
    await end(signal);
    await becomes(backend, "recovering");
    await serve();
    await becomes(backend, "connected");
    const starter = await client();
    await outcome(await starter.start({ argv: ["true"], processId: "new" }));
    expect(await closed).toContain("exited");
  });
});

it.each(["fail", "renew"] as const)(
  "names the loss of the session to the readers of a process of another client: %s",
  async (onSessionLost) => {
    await serve();
    const starter = await client({ onSessionLost: "renew" });
    await starter.start({ argv: ["sleep", "300"], processId: "old" });
    const viewer = await client({ onSessionLost });
    const old = await viewer.attach("old");
    const readers = [lastValueFrom(lines(old)), lastValueFrom(old.exit$), readAll(old), old.read({ waitMs: 60_000 })];
    const ends = readers.map(refusal);
    await end("SIGKILL");
    await becomes(viewer, "recovering");
    await serve();
    expect(await Promise.all(ends)).toEqual(readers.map(() => sessionLost));
    expect(await viewer.list()).toEqual([]);
    expect(await refusal(viewer.attach("old"))).toMatchObject({ code: "PROCESS_UNKNOWN" });
  },
);
