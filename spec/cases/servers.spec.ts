// Reported bugs of the environment of programs and of system limits: descriptors and secrets of the server,
// values that every user can see in `ps`, and servers that lose their descriptors, their directory or CPU time.
import { mkdirSync, readFileSync, rmSync } from "node:fs";
import { afterAll, afterEach, describe, expect, it } from "@jest/globals";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import { connect } from "../../lib/connect.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { Process } from "../../lib/process/process.ts";
import type { ProcessSpec } from "../../protocol/index.ts";
import { nextTurn } from "../support/next-turn.ts";
import { end, outcome, printed } from "../support/outcome.ts";
import { sh } from "../support/programs.ts";
import { type Refusal, refusal } from "../support/refusal.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { isAlive } from "../support/system-facts.ts";
import { runProgram } from "../support/system-run.ts";
import { type HostedServer, makeSurroundings } from "../support/system-server.ts";
import { closed, exited, transcript } from "../support/transcript.ts";
import { endDetached, findProcesses } from "../support/trees.ts";
import { describeCases } from "./describe-cases.ts";

const env = { PATH: "/usr/bin:/bin" };
const scratch = makeScratch();
const user = makeSurroundings();

describe("servers", () => {
  const clients: RemoteBackend[] = [];
  afterEach(async () => {
    await Promise.all(clients.splice(0).map((client) => client.close({ graceMs: 0 })));
  });

  /** A client of a server that runs as a program of its own. */
  async function clientOf({ url, child }: HostedServer): Promise<RemoteBackend> {
    const client = await connect(url, { token: readFileSync(user.file(`token-${child.pid}`), "utf8").trim() });
    clients.push(client);
    return client;
  }

  it("P90 a server without free descriptors refuses starts with that reason, and still serves processes and clients", async () => {
    const server = await user.serve([], {}, "ulimit -n 64");
    const client = await clientOf(server);
    const running: Process[] = [];
    const refusals: Refusal[] = [];
    for (let count = 0; count < 100; count += 1) {
      const starting = client.start({ argv: ["/bin/cat"], pipeStdin: true });
      await starting.then(
        (process) => running.push(process),
        async () => refusals.push(await refusal(starting)),
      );
    }
    expect(running.length).toBeGreaterThan(5);
    const exhausted = { code: "SPAWN_FAILED", data: { kind: "resource-exhausted", path: "/bin/cat" } };
    expect(refusals).toEqual(Array(100 - running.length).fill(exhausted));
    await expect(client.start({ argv: ["/bin/cat"], pipeStdin: true })).rejects.toThrow(/EMFILE/);
    for (const process of running) await process.write("still here\n");
    const answers = await Promise.all(running.map((process) => printed(process, "\n")));
    expect(new Set(answers)).toEqual(new Set(["still here\n"]));

    for (const process of running.slice(0, 4)) {
      await process.closeStdin();
      await end(process);
    }
    const later = await clientOf(server);
    expect((await outcome(await later.start({ argv: ["echo", "again"], env }))).stdout).toBe("again\n");
  });

  it("P91 a program inherits no descriptor of its server, and does not keep the port in use after the server died", async () => {
    const server = await user.serve(["--on-death", "keep"], {}, "exec 9</dev/null");
    expect(readFileSync(`/proc/${server.child.pid}/fdinfo/9`, "utf8")).toContain("pos:");
    const client = await clientOf(server);
    for (const tty of [false, true]) {
      const { stdout, pty } = await outcome(await client.start({ argv: ["ls", "/proc/self/fd"], env, tty }));
      // The fourth is the directory that ls reads.
      expect((stdout + pty).trim().split(/\s+/)).toEqual(["0", "1", "2", "3"]);
    }
    const process = await client.start({ argv: ["sleep", "300"], env });
    const pid = process.info.pid as number;
    server.child.kill("SIGKILL");
    await server.ended;
    const next = await user.serve(["--listen", server.url]);
    expect([next.url, isAlive(pid)]).toEqual([server.url, true]);
    await endDetached(pid);
  });

  it("P93 a program sees no secret of its server, however it inherits its environment", async () => {
    const secrets = { MY_SECRET: "s1", SERVICE_API_KEY: "s2", github_token: "s3", EXECWIRE_TOKEN: "s4 s4 s4 s4 s4 s4" };
    const server = await user.serve(["--token-file", scratch("token")], { ...secrets, PLAIN: "p" });
    const client = await connect(server.url, { token: readFileSync(scratch("token"), "utf8").trim() });
    clients.push(client);
    const variables = async (spec: Omit<ProcessSpec, "argv">) => {
      const { stdout } = await outcome(await client.start({ argv: ["/usr/bin/env"], ...spec }));
      return stdout.split("\n").flatMap((line) => line.split("=", 1)[0] || []);
    };
    expect(await variables({})).toEqual([]);
    const all = await variables({ envPolicy: { inherit: "all" } });
    const core = await variables({ envPolicy: { inherit: "core" } });
    expect(all).toEqual(expect.arrayContaining(["PATH", "PLAIN"]));
    for (const name of Object.keys(secrets)) expect([...all, ...core]).not.toContain(name);
    expect(core).not.toContain("PLAIN");
    expect(await variables({ envPolicy: { inherit: "all", exclude: ["*"] } })).toEqual([]);
    const told = { inherit: "all", ignoreDefaultExcludes: true, includeOnly: ["*_SECRET", "EXECWIRE*"] } as const;
    // A secret is passed on if the caller asks for it, but never the server's own.
    expect(await variables({ envPolicy: told })).toEqual(["MY_SECRET"]);
  });

  it("P96 a server whose working directory was removed starts programs in it, as a shell does, and in other directories", async () => {
    const directory = scratch(uniqueName("directory"));
    mkdirSync(directory);
    const client = await clientOf(await user.serve([], {}, `cd ${directory}`));
    rmSync(directory, { recursive: true });
    expect(await outcome(await client.start({ argv: ["/bin/echo", "here"] }))).toMatchObject({ stdout: "here\n" });
    expect((await outcome(await client.start({ argv: ["pwd"], cwd: "/", env }))).stdout).toBe("/\n");
  });

  it("P100 a timeout that passes while the server is stopped fires once, as soon as the server continues", async () => {
    const server = await user.serve();
    const client = await clientOf(server);
    const process = await client.start({ argv: ["sleep", "300"], env, timeoutMs: 500 });
    server.child.kill("SIGSTOP");
    // Twice the timeout, by another program's clock.
    await runProgram(["sleep", "1"]);
    expect(isAlive(process.info.pid as number)).toBe(true);
    const before = performance.now();
    server.child.kill("SIGCONT");
    const exit = { exitCode: null, signal: "SIGTERM", result: "terminated", reason: "timeout" } as const;
    expect(await transcript(process)).toEqual([exited(1, exit), closed(2)]);
    expect(performance.now() - before).toBeLessThan(5_000);
  });
});

describeCases(
  "servers",
  ({ start }) => {
    it("P90 the refusal at the limit of processes names the limit, and an end makes room again", async () => {
      const processes = [
        await start({ argv: ["cat"], env, pipeStdin: true }),
        await start({ argv: ["cat"], env, tty: true }),
      ];
      const full = { code: "LIMIT_EXCEEDED", data: { limit: "liveProcesses" } };
      expect(await refusal(start({ argv: ["true"], env }))).toEqual(full);
      for (const process of processes) await process.closeStdin();
      for (const process of processes) await end(process);
      expect((await outcome(await start({ argv: ["true"], env }))).exitCode).toBe(0);
    });
  },
  { liveProcesses: 2 },
);

describe.each(["posix", "portable"] as const)("servers with the %s spawner", (spawner) => {
  const supervisor = createSupervisor({ spawner, onSupervisorDeath: "kill" });
  afterAll(() => supervisor.close({ graceMs: 0 }));

  it.each<[what: string, spec: Partial<ProcessSpec>]>([
    ["pipes", { pipeStdin: true }],
    ["one pipe", { pipeStdin: true, merge: true }],
    ["a terminal", { tty: true }],
    ["a raw terminal", { tty: { raw: true } }],
  ])("P94 no variable is in a command line that `ps` could show, on %s", async (_what, spec) => {
    const value = uniqueName("password");
    const shown = new Set<number>();
    const look = () => {
      for (const pid of findProcesses(value)) shown.add(pid);
    };
    const starting = supervisor.start({
      argv: sh('echo "$PASSWORD"; read -r _'),
      env: { ...env, PASSWORD: value },
      ...spec,
    });
    // Also while it starts, when a helper may be in between.
    for (let looks = 0; looks < 10; looks += 1) {
      look();
      await nextTurn();
    }
    const process = await starting;
    await printed(process, value);
    look();
    expect([...shown]).toEqual([]);
    await process.terminate({ graceMs: 0 });
    await end(process);
  });
});
