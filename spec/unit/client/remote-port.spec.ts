// Errors of a client whose server is older.
import { expect, it } from "@jest/globals";
import { RemotePort } from "../../../lib/client/remote-port.ts";
import { Requests } from "../../../lib/client/requests.ts";
import type { RequestMessage, WireError } from "../../../protocol/index.ts";
import { refusal } from "../../support/refusal.ts";

/** A port whose server refuses everything with this error. */
function portTo(error: WireError): { port: RemotePort; methods: string[] } {
  const methods: string[] = [];
  const requests: Requests = new Requests(({ id, method }: RequestMessage) => {
    methods.push(method);
    queueMicrotask(() => requests.settle({ type: "reply", id, error }));
  });
  return { port: new RemotePort(requests, { processId: "p", incarnation: "i" }), methods };
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
