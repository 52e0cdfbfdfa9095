// The transports between a test client and a server: a WebSocket, or the stdin and stdout of a command. Both carry raw text, so
// that a check can see and send exactly what is on the wire.
import { spawn } from "node:child_process";
import { createInterface } from "node:readline";
import { WebSocket } from "ws";

/** Connects to `url`; rejects with an error that has `status` if the server answers the upgrade with another status than 101. */
export function openWebSocket(url, { token, headers = {}, autoPong = true } = {}) {
  const socket = new WebSocket(url, {
    headers: { ...(token && { authorization: `Bearer ${token}` }), ...headers },
    autoPong,
    maxPayload: 0,
    perMessageDeflate: false,
  });
  const wire = {
    socket,
    onMessage: () => {},
    closed: new Promise((resolve) => socket.on("close", (code) => resolve({ code }))),
    send: (data, options = {}) => socket.send(data, { binary: false, ...options }, () => {}),
    close: () => socket.close(1000),
    cut: () => socket.terminate(),
    pause: () => socket.pause(),
    resume: () => socket.resume(),
  };
  socket.on("message", (data, binary) => wire.onMessage(data.toString(), binary));
  return new Promise((resolve, reject) => {
    socket.on("open", () => resolve(wire));
    socket.on("unexpected-response", (request, { statusCode }) => {
      request.destroy();
      reject(Object.assign(new Error(`the upgrade was answered with ${statusCode}`), { status: statusCode }));
    });
    socket.on("error", reject);
  });
}

/** Starts `command` and exchanges messages through its stdin and stdout, one per line. */
export function openStdio(command, { env } = {}) {
  const child = spawn(command[0], command.slice(1), { env, stdio: ["pipe", "pipe", "ignore"] });
  const exited = new Promise((resolve) => child.on("exit", (code, signal) => resolve({ code: code ?? signal })));
  child.stdin.on("error", () => {});
  const wire = {
    child,
    onMessage: () => {},
    closed: exited,
    send: (data) => child.stdin.write(`${data}\n`),
    close: () => child.stdin.end(),
    cut: () => child.kill("SIGKILL"),
  };
  createInterface({ input: child.stdout }).on("line", (line) => wire.onMessage(line, false));
  return new Promise((resolve, reject) => {
    child.on("spawn", () => resolve(wire));
    child.on("error", reject);
  });
}
