// Pending requests: numbered, kept until their replies arrive, sent again in order.
import { describe, expect, it } from "@jest/globals";
import { Requests } from "../../../lib/client/requests.ts";
import { ExecwireError } from "../../../lib/errors.ts";
import type { RequestMessage } from "../../../protocol/index.ts";
import { refusal } from "../../support/refusal.ts";

function make() {
  const sent: RequestMessage[] = [];
  const requests = new Requests((message) => sent.push(message));
  const ids = () => sent.map(({ id, acked }) => [id, acked]);
  return { requests, sent, ids };
}

const ignore = { onResult: () => undefined, onError: () => undefined };

describe("the requests of a client", () => {
  it("are numbered from 1 and sent as they are made", () => {
    const { requests, sent } = make();
    void requests.call("process/list", {});
    void requests.call("process/attach", { processId: "p" });
    expect(sent).toEqual([
      { type: "request", id: 1, acked: [], method: "process/list", params: {} },
      { type: "request", id: 2, acked: [], method: "process/attach", params: { processId: "p" } },
    ]);
    expect(requests.pending).toEqual([1, 2]);
  });

  it("acknowledge each reply once, with the next request", () => {
    const { requests, ids } = make();
    for (let count = 0; count < 3; count += 1) void requests.call("process/list", {});
    requests.settle({ type: "reply", id: 3, result: { processes: [] } });
    requests.settle({ type: "reply", id: 1, result: { processes: [] } });
    void requests.call("process/list", {});
    void requests.call("process/list", {});
    expect(ids().slice(3)).toEqual([
      [4, [3, 1]],
      [5, []],
    ]);
  });

  it("resolve with the result and reject with the code, message and data of the server", async () => {
    const { requests } = make();
    const calls = [requests.call("process/list", {}), requests.call("process/list", {})];
    requests.settle({ type: "reply", id: 1, result: { processes: [] } });
    const data = { limit: "requests" };
    requests.settle({ type: "reply", id: 2, error: { code: "LIMIT_EXCEEDED", message: "too many", data } });
    expect(await calls[0]).toEqual({ processes: [] });
    await expect(calls[1]).rejects.toMatchObject({ code: "LIMIT_EXCEEDED", message: "too many", data });
  });

  it("are answered synchronously with the reply", () => {
    const { requests } = make();
    const results: string[] = [];
    requests.request("process/list", {}, { ...ignore, onResult: () => results.push("result") });
    requests.settle({ type: "reply", id: 1, result: { processes: [] } });
    expect(results).toEqual(["result"]);
  });

  it("ignore a second reply, and a reply to no request", async () => {
    const { requests } = make();
    const call = requests.call("process/list", {});
    requests.settle({ type: "reply", id: 1, result: { processes: [] } });
    requests.settle({ type: "reply", id: 1, error: { code: "INTERNAL", message: "again" } });
    requests.settle({ type: "reply", id: 99, result: { processes: [] } });
    expect(await call).toEqual({ processes: [] });
    expect(requests.pending).toEqual([]);
  });

  it("are sent again in order with their old numbers, except those that belong to one connection", () => {
    const { requests, sent, ids } = make();
    void requests.call("process/list", {});
    requests.request("process/unsubscribe", { processId: "p", incarnation: "i" }, ignore, { again: false });
    void requests.call("process/list", {});
    void requests.call("process/list", {});
    requests.settle({ type: "reply", id: 3, result: { processes: [] } });
    sent.length = 0;
    requests.sendAgain();
    expect(ids()).toEqual([
      [1, []],
      [4, []],
    ]);
    expect(requests.pending).toEqual([1, 4]);
  });

  it("all fail with the reason when the connection is closed for good, the later ones at once", async () => {
    const { requests, sent } = make();
    const calls = [requests.call("process/list", {}), requests.call("process/attach", { processId: "p" })];
    requests.fail(new ExecwireError("CONNECTION_LOST", "gone", { data: { reason: "unreachable" } }));
    calls.push(requests.call("process/list", {}));
    const lost = { code: "CONNECTION_LOST", data: { reason: "unreachable" } };
    expect(await Promise.all(calls.map((call) => refusal(call)))).toEqual([lost, lost, lost]);
    expect(sent.length).toBe(2);
    expect(requests.pending).toEqual([]);
  });
});
