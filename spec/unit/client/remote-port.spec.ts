// Errors of a client whose server is older, and its writes without an answer.
import { expect, it } from "@jest/globals";
import { RemotePort } from "../../../lib/client/remote-port.ts";
import { Requests } from "../../../lib/client/requests.ts";
import type { RequestMessage, WireError } from "../../../protocol/index.ts";
import { limits } from "../../../protocol/limits.ts";
import { refusal } from "../../support/refusal.ts";

/** A port whose server refuses everything with this error. */
function portTo(error: WireError): { port: RemotePort; methods: string[] } {
  const methods: string[] = [];
  const requests: Requests = new Requests(({ id, method }: RequestMessage) => {
    methods.push(method);
    queueMicrotask(() => requests.settle({ type: "reply", id, error }));
  });
  return { port: new RemotePort(requests, { processId: "p", incarnation: "i" }, limits), methods };
}

it.each(["holders", "activity"] as const)(
  "rejects %s with UNSUPPORTED when the server does not know the method",
  async (what) => {
    const { port, methods } = portTo({
      code: "INVALID_PARAMS",
      message: "method is not known",
      data: { field: "method" },
    });
    expect(await refusal(port[what]())).toEqual({ code: "UNSUPPORTED", data: { what } });
    expect(methods).toEqual([`process/${what}`]);
  },
);

it.each(["holders", "activity"] as const)("passes any other refusal of %s to the caller", async (what) => {
  const { port } = portTo({ code: "PROCESS_UNKNOWN", message: "no", data: { processId: "p" } });
  expect(await refusal(port[what]())).toEqual({ code: "PROCESS_UNKNOWN", data: { processId: "p" } });
});

it("refuses writes beyond a bound while there is no connection, and accepts others once earlier ones are answered", async () => {
  const sent: RequestMessage[] = [];
  const requests = new Requests((message) => void sent.push(message));
  const bounds = { ...limits, stdinQueueBytes: 4, stdinParkedBytes: 4 };
  const port = new RemotePort(requests, { processId: "p", incarnation: "i" }, bounds);
  const refused = { code: "LIMIT_EXCEEDED", data: { limit: "stdinParkedBytes" } };
  const large = port.write(new Uint8Array(9));
  expect(await refusal(port.write(new Uint8Array(1)))).toEqual(refused);
  requests.settle({ type: "reply", id: sent[0]?.id as number, result: { status: "accepted" } });
  expect(await large).toBe("accepted");
  const others = [port.write(new Uint8Array(4)), port.write(new Uint8Array(4))];
  expect(await refusal(port.write(new Uint8Array(1)))).toEqual(refused);
  for (const { id } of sent.slice(1)) requests.settle({ type: "reply", id, result: { status: "stdinClosed" } });
  expect(await Promise.all(others)).toEqual(["stdinClosed", "stdinClosed"]);
});
