// Ids, labels and errors that other programs chose cannot control the terminal or break its columns.
import { once } from "node:events";
import { readFileSync } from "node:fs";
import type { AddressInfo } from "node:net";
import { describe, expect, it } from "@jest/globals";
import { WebSocketServer } from "ws";
import { connect } from "../../lib/connect.ts";
import { decode, encode } from "../../protocol/index.ts";
import { runCli } from "../support/system-run.ts";
import { makeSurroundings } from "../support/system-server.ts";

const user = makeSurroundings();
const ESCAPES = "\x1b[31m\x9b2J\u202e\u2066\u200b\u2028\x07";

describe("execwire ps", () => {
  it("shows wide, long and misleading ids in columns, and unchanged in its JSON", async () => {
    const { url, child } = await user.serve();
    const token = readFileSync(user.file(`token-${child.pid}`), "utf8").trim();
    const client = await connect(url, { token });
    const ids = ["日本語", `evil${ESCAPES}`, "x".repeat(300), "plain"];
    for (const processId of ids) {
      await client.start({ argv: ["sleep", "60"], processId, onDetach: "keep", labels: { [ESCAPES]: ESCAPES } });
    }
    const { stdout } = await user.cli(["ps"]);
    const rows = stdout.trimEnd().split("\n");
    expect(rows.length).toBe(ids.length + 1);
    const column = rows[0]?.indexOf("STATE");
    expect(rows.find((row) => row.startsWith("plain"))?.indexOf("running")).toBe(column);
    expect(rows.find((row) => row.startsWith("日本語"))?.indexOf("running")).toBe((column as number) - 3);
    const verbose = await user.cli(["ps", "-v"]);
    const json = await user.cli(["ps", "-v", "--json"]);
    for (const { stdout: text } of [{ stdout }, verbose, json]) {
      for (const character of ESCAPES.replace(/[[\w]/g, "")) expect(text).not.toContain(character);
    }
    const listed = JSON.parse(json.stdout) as { processId: string; labels: object }[];
    expect(listed.map(({ processId }) => processId).sort()).toEqual([...ids].sort());
    expect(listed.every(({ labels }) => JSON.stringify(labels) === JSON.stringify({ [ESCAPES]: ESCAPES }))).toBe(true);
    await client.close();
  });
});

describe("an error of a server", () => {
  it("is shown in one line without control characters and without excess white space", async () => {
    const server = new WebSocketServer({ host: "127.0.0.1", port: 0, perMessageDeflate: false });
    await once(server, "listening");
    server.on("connection", (socket) => {
      const limits = { sessionTtlMs: 80_000, pingMs: 20_000, frameBytes: 1_000_000, windowBytes: 500_000 };
      socket.once("message", () => {
        socket.send(encode({ type: "welcome", version: 1, sessionId: "s", secret: "s", resumed: false, limits }));
        const message = `no\n${ESCAPES}way${" ".repeat(500_000)}x`;
        socket.on("message", (request: Buffer) => {
          const { id } = decode(request) as { id: number };
          socket.send(encode({ type: "reply", id, error: { code: "INTERNAL", message } }));
        });
      });
    });
    const url = `ws://127.0.0.1:${(server.address() as AddressInfo).port}`;
    const { stderr, code } = await user.cli(["ps", "--url", url]);
    expect(code).toBe(125);
    expect(stderr.startsWith("execwire: no; [31m2Jway")).toBe(true);
    expect(stderr.indexOf("\n")).toBe(stderr.length - 1);
    for (const character of ESCAPES.replace(/[[\w]/g, "")) expect(stderr).not.toContain(character);
    server.close();
    for (const socket of server.clients) socket.terminate();
  });
});

describe("a usage error", () => {
  it("quotes arguments without control characters", async () => {
    for (const args of [[ESCAPES], ["ps", `--${ESCAPES}`], ["run", "--timeout", ESCAPES, "true"]]) {
      const { stderr, code } = await runCli(args);
      expect(code).toBe(2);
      expect(stderr).toMatch(/^error: .*31m.*2J.*\n/);
      for (const character of ESCAPES.replace(/[[\w]/g, "")) expect(stderr).not.toContain(character);
    }
  });
});
