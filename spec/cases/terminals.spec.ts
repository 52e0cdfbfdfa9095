// Reported bugs of terminals: their size and the right to change it, queries of programs, and terminals without viewers.
import { existsSync } from "node:fs";
import { afterAll, beforeAll, describe, expect, it } from "@jest/globals";
import { filter, firstValueFrom } from "rxjs";
import type { RemoteBackend } from "../../lib/client/remote-backend.ts";
import type { Process } from "../../lib/process/process.ts";
import { nextTurn } from "../support/next-turn.ts";
import { end, exitOf, outcome, printed } from "../support/outcome.ts";
import { bash, sh } from "../support/programs.ts";
import { refusal } from "../support/refusal.ts";
import { makeScratch, uniqueName } from "../support/scratch.ts";
import { TOKEN, WireHost } from "../support/wire-host.ts";
import { describeCases } from "./describe-cases.ts";

const env = { PATH: "/usr/bin:/bin" };
const scratch = makeScratch();

/** Answers a program that asks where the cursor is, as the terminal of a viewer does. */
function answerCursorQueries(process: Process): void {
  let asked = "";
  process.output$.subscribe((event) => {
    if (event.type === "gap") return;
    asked += Buffer.from(event.chunk).toString("latin1");
    if (!asked.includes("\x1b[6n")) return;
    asked = "";
    void process.write("\x1b[12;40R");
  });
}

describeCases("terminals", ({ start }) => {
  it("P52 a program finds a size when it starts, not 0 times 0", async () => {
    const stty = { argv: ["stty", "size"], env };
    const sizes = [true, { rows: 50, cols: 132 }, { cols: 132 }];
    const processes = await Promise.all(sizes.map((tty) => start({ ...stty, tty })));
    const printedSizes = await Promise.all(processes.map(async (process) => (await outcome(process)).pty));
    expect(printedSizes).toEqual(["24 80\r\n", "50 132\r\n", "24 132\r\n"]);
    expect(await refusal(start({ ...stty, tty: { rows: 0, cols: 0 } }))).toEqual({
      code: "INVALID_PARAMS",
      data: { field: "tty.rows" },
    });
  });

  it("P54 a resize does not fail when the program is just exiting, nor after its exit", async () => {
    const process = await start({ argv: ["true"], tty: true });
    const ended = end(process);
    const resizes: Promise<void>[] = [];
    for (let cols = 1; process.info.state !== "closed"; cols += 1) {
      resizes.push(process.resize({ rows: 24, cols }));
      await nextTurn();
    }
    await ended;
    resizes.push(process.resize({ rows: 24, cols: 80 }));
    expect(await Promise.all(resizes)).toEqual(resizes.map(() => undefined));
    expect(await exitOf(process)).toMatchObject({ exitCode: 0, reason: "exited" });
  });

  it("P54 an impossible size is refused in every state, and the terminal keeps its size", async () => {
    const process = await start({ argv: sh("read _; stty size"), tty: { echo: false }, env });
    const impossible = [
      { rows: 0, cols: 0 },
      { rows: 1, cols: 70_000 },
    ];
    const refusals = () =>
      Promise.all(impossible.map(async (size) => (await refusal(process.resize(size))).data.field));
    expect(await refusals()).toEqual(["rows", "cols"]);
    await process.write("\n");
    expect((await outcome(process)).pty).toBe("24 80\r\n");
    expect(await refusals()).toEqual(["rows", "cols"]);
  });

  it("P57 a viewer can answer the queries that a program sends to its terminal", async () => {
    const script = `stty -icanon -echo min 1 time 0; printf '\\033[6n'; head -c 8 | tr '\\033' E`;
    const process = await start({ argv: sh(script), tty: true, env });
    answerCursorQueries(process);
    expect((await outcome(process)).pty).toBe("\x1b[6nE[12;40R");
  });

  it("P58 a program that sends a query and does not wait for the answer gets no input that no user typed", async () => {
    const script = `printf '\\033[6n'; read -r line; printf '<%s>' "$line"`;
    const process = await start({ argv: bash(script), tty: { echo: false }, env });
    await printed(process, "\x1b[6n");
    await process.write("typed\n");
    expect((await outcome(process)).pty).toBe("\x1b[6n<typed>");
  });

  it("P67 a program that floods a terminal without viewers exits, and its last output is kept", async () => {
    const done = scratch(uniqueName("done"));
    const script = 'yes | head -c 1500000 > /dev/tty; printf last; touch "$1"';
    const process = await start({ argv: sh(script, done), tty: true, env });
    await end(process);
    expect(existsSync(done)).toBe(true);
    const { chunks } = await process.read({ afterSeq: 0 });
    const kept = Buffer.concat(chunks.map(({ chunk }) => chunk));
    expect(kept.length).toBeGreaterThan(0.9 * 1024 * 1024);
    expect(kept.toString("latin1", kept.length - 7)).toBe("y\r\nlast");
  });
});

describe("terminals with viewers", () => {
  let host: WireHost;
  let owner: RemoteBackend;
  beforeAll(async () => {
    host = await WireHost.open({ auth: { kind: "token", token: TOKEN, viewToken: "for viewers" } });
    owner = await host.connect();
  });
  afterAll(() => host.close());

  it("P55 a viewer that joins does not change the terminal, and is not allowed to", async () => {
    const process = await owner.start({
      argv: sh("while read -r _; do stty size; done"),
      tty: { rows: 24, cols: 80, echo: false },
      env,
    });
    const viewers = await Promise.all([1, 2].map(() => host.connectDirectly({ token: "for viewers" })));
    const views = await Promise.all(viewers.map((viewer) => viewer.attach(process.id)));
    const resizes = views.map((view) => firstValueFrom(view.events().pipe(filter(({ type }) => type === "resized"))));
    const sizes = views.map((view) => printed(view, "24 80\r\n"));
    await process.write("\n");
    expect(await Promise.all(sizes)).toEqual(["24 80\r\n", "24 80\r\n"]);
    for (const view of views) {
      expect(await refusal(view.resize({ rows: 50, cols: 200 }))).toEqual({ code: "FORBIDDEN", data: {} });
    }
    const size = { rows: 30, cols: 100 };
    await process.resize(size);
    expect(await Promise.all(resizes)).toMatchObject([{ size }, { size }]);
    await process.write("\n");
    expect(await printed(process, "30 100\r\n")).toBe("24 80\r\n30 100\r\n");
    await process.terminate({ graceMs: 0 });
  });

  it("P67 a program that floods its terminal exits even if its only client has left", async () => {
    const done = scratch(uniqueName("done"));
    const script = 'read -r _; yes | head -c 1500000 > /dev/tty; touch "$1"';
    const client = await host.connectDirectly();
    const process = await client.start({ argv: sh(script, done), tty: true, env, onDetach: "keep" });
    const here = await host.supervisor.attach(process.id);
    await client.close();
    await here.write("\n");
    expect(await exitOf(here)).toMatchObject({ exitCode: 0, reason: "exited" });
    expect(existsSync(done)).toBe(true);
  });
});
