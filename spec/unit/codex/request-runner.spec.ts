// RequestRunner of one connection: each is answered once, whatever goes wrong.
import { describe, expect, it } from "@jest/globals";
import { string } from "../../../lib/codex/decode.ts";
import { method, RawResult, ReplyThen } from "../../../lib/codex/server/method.ts";
import { RequestRunner } from "../../../lib/codex/server/request-runner.ts";
import { nextTurn } from "../../support/next-turn.ts";

class Scope {
  readonly sent: string[] = [];
  broken = 0;
  room: Promise<void> = Promise.resolve();
  readonly gone = new AbortController();
  readonly signal = this.gone.signal;
  readonly drained = () => this.room;
  readonly requests: RequestRunner;

  constructor(max = 10) {
    const unspeakable = new RawResult([{ length: 1 } as Uint8Array]);
    this.requests = new RequestRunner(
      {
        echo: method("exec", string, (text) => ({ text })),
        raw: method("exec", string, () => unspeakable),
        begin: method("exec", string, (text) => new ReplyThen({}, () => this.sent.push(`began ${text}`))),
        bad: method("exec", string, () => new ReplyThen({}, () => failing())),
        never: method("exec", string, () => new Promise(() => undefined)),
        file: method("filesystem", string, (text) => this.sent.push(`did ${text}`) && {}),
      },
      { ...this.parts(), drained: () => this.room },
      max,
    );
  }

  private parts() {
    const { sent, signal } = this;
    return {
      checkReady: () => undefined,
      send: (frame: Uint8Array) => sent.push(Buffer.from(frame).toString()),
      signal,
      broken: () => {
        this.broken += 1;
      },
    };
  }
}

function failing(): never {
  throw new Error("it cannot begin");
}

describe("requests of a Codex connection", () => {
  it("are refused if the result cannot be encoded, and the next one is answered", async () => {
    const { requests, sent } = new Scope();
    requests.request("1", "raw", "x");
    requests.request("2", "echo", "y");
    await nextTurn();
    expect(sent.sort()).toEqual([expect.stringContaining('"code":-32603'), '{"id":2,"result":{"text":"y"}}']);
  });

  it("are answered before what they announce begins; if it cannot begin, the connection is closed", async () => {
    const scope = new Scope();
    scope.requests.request("1", "begin", "x");
    await nextTurn();
    expect(scope.sent).toEqual(['{"id":1,"result":{}}', "began x"]);
    scope.requests.request("2", "bad", "x");
    await nextTurn();
    expect([scope.sent.at(-1), scope.broken]).toEqual(['{"id":2,"result":{}}', 1]);
  });

  it("are refused above their limit", async () => {
    const { requests, sent } = new Scope(1);
    requests.request("1", "never", "x");
    requests.request("2", "echo", "x");
    await nextTurn();
    expect(sent).toEqual([expect.stringContaining('"code":-32600')]);
  });

  it("for files wait for earlier ones and for room, and are not done for a closed connection", async () => {
    const scope = new Scope();
    let room: () => void = () => undefined;
    scope.room = new Promise((resolve) => {
      room = resolve;
    });
    scope.requests.request("1", "file", "a");
    await nextTurn();
    expect(scope.sent).toEqual([]);
    room();
    await nextTurn();
    expect(scope.sent).toEqual(["did a", '{"id":1,"result":{}}']);
    scope.gone.abort(new Error("gone"));
    scope.requests.request("2", "file", "b");
    await nextTurn();
    expect(scope.sent).toHaveLength(3);
    expect(scope.sent).not.toContain("did b");
  });
});
