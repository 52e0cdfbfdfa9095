// A WebSocket as a transport: what it reports of frames that wait when the connection breaks.
import { once } from "node:events";
import type { AddressInfo, Socket } from "node:net";
import { afterEach, expect, it } from "@jest/globals";
import { WebSocket, WebSocketServer } from "ws";
import { webSocketTransport } from "../../../../lib/transport/websocket/websocket-node.ts";

const server = new WebSocketServer({ port: 0, host: "127.0.0.1" });
afterEach(() => {
  for (const client of server.clients) client.terminate();
  server.close();
});

it("does not report a frame as sent that was waiting when the connection broke", async () => {
  if (!server.address()) await once(server, "listening");
  const client = new WebSocket(`ws://127.0.0.1:${(server.address() as AddressInfo).port}`);
  const [accepted, request] = (await once(server, "connection")) as [WebSocket, { socket: Socket }];
  await once(client, "open");
  client.pause();
  const transport = webSocketTransport(accepted, request.socket, "binary");
  const over = new Promise<void>((resolve) => transport.listen({ frame: () => undefined, closed: () => resolve() }));
  let sent = 0;
  const count = () => {
    sent += 1;
  };
  // More than the socket buffers of both ends hold.
  for (let frame = 0; frame < 100; frame += 1) transport.send(new Uint8Array(1024 * 1024), count);
  client.terminate();
  await over;
  expect(sent).toBeLessThan(100);
});
