// The context of a check: fresh connections to the server under test, a scratch folder, and cleanup steps that run when the check
// is over, also after a failure.
import { mkdtempSync, realpathSync, rmSync } from "node:fs";
import { request } from "node:http";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { connectPeer, spawnPeer } from "./peer.mjs";
import { serverEnvironment, startServer, stdioCommand } from "./servers.mjs";

export class CheckContext {
  #cleanups = [];
  #count = 0;

  constructor(target) {
    this.target = target;
    this.dir = realpathSync(mkdtempSync(join(tmpdir(), "codex-checks-")));
    this.defer(() => rmSync(this.dir, { recursive: true, force: true }));
  }

  /** Runs `cleanup` when the check is over, in reverse order. */
  defer(cleanup) {
    this.#cleanups.push(cleanup);
  }

  async cleanUp() {
    for (const cleanup of this.#cleanups.reverse()) await Promise.resolve(cleanup()).catch(() => {});
  }

  path(...names) {
    return join(this.dir, ...names);
  }

  /** The file URI of a path in the scratch folder. */
  uri(...names) {
    return pathToFileURL(this.path(...names)).href;
  }

  /** A connection without a handshake. */
  async connect({ to = this.target, ...options } = {}) {
    const peer = await connectPeer(to.url, { token: to.token, ...options });
    this.defer(() => peer.wire.cut());
    return peer;
  }

  /** A connection with its own session. */
  async session(options) {
    const peer = await this.connect(options);
    await peer.openSession();
    return peer;
  }

  /** A new connection that resumes the session of a lost one, as soon as the server has noticed the loss. */
  async resume(sessionId) {
    const peer = await this.connect();
    const attempt = () => peer.call("initialize", { clientName: "checks", resumeSessionId: sessionId });
    let reply = await attempt();
    for (const end = Date.now() + 10_000; reply.error?.code === -32010 && Date.now() < end; ) reply = await attempt();
    if (reply.error) throw new Error(`not resumed: ${reply.error.message}`);
    peer.notify("initialized", {});
    peer.sessionId = reply.result.sessionId;
    return peer;
  }

  /** Starts a server of the same kind for this check alone. */
  async launch() {
    const server = await startServer(this.target.kind);
    this.defer(() => server.stop());
    return server;
  }

  /** Starts a server of the same kind on stdin and stdout. */
  async stdio() {
    const peer = await spawnPeer(stdioCommand(this.target.kind), { env: serverEnvironment(this.dir) });
    this.defer(() => peer.wire.cut());
    return peer;
  }

  /** Params of process/start: a new id, a shell command or an argv, and the given fields. */
  spec({ sh, ...rest } = {}) {
    const argv = sh === undefined ? ["/bin/true"] : ["/bin/sh", "-c", sh];
    const cwd = pathToFileURL(this.dir).href;
    return { processId: `check-${++this.#count}`, argv, cwd, env: {}, tty: false, ...rest };
  }

  /** Starts a process and returns its id. It is terminated when the check is over. */
  async start(peer, options) {
    const spec = this.spec(options);
    await peer.ask("process/start", spec);
    this.defer(() => peer.call("process/terminate", { processId: spec.processId }, 1_000));
    return spec.processId;
  }

  /** Runs a process to its end: `{ exitCode, stdout, stderr, pty }`. */
  async run(peer, options) {
    return peer.ended(await this.start(peer, options));
  }

  /**
   * Starts `sh` with a pipe as stdin, and sends a line for its `read` once it has printed all of `texts`. So its exit event
   * follows the output, which the Codex exec-server does not guarantee otherwise. Returns the id of the ended process.
   */
  async runInOrder(peer, { sh, texts, ...options }) {
    const processId = await this.start(peer, { sh, pipeStdin: true, ...options });
    for (const text of texts) await peer.waitForText(processId, text);
    await peer.ask("process/write", { processId, chunk: Buffer.from("\n").toString("base64"), writeId: "end" });
    await peer.ended(processId);
    return processId;
  }

  /** A plain HTTP request, with the headers exactly as given: `{ status, body, headers }`. */
  http(method, path, headers = {}) {
    const { hostname, port } = new URL(this.target.url);
    return new Promise((resolve, reject) => {
      const sent = request({ hostname, port, method, path, headers, agent: false });
      sent.on("upgrade", (response, socket) => {
        socket.destroy();
        resolve({ status: response.statusCode, body: "", headers: response.headers });
      });
      sent.on("response", (response) => {
        let body = "";
        response.on("data", (data) => {
          body += data;
        });
        response.on("end", () => resolve({ status: response.statusCode, body, headers: response.headers }));
      });
      sent.on("error", reject);
      sent.end();
    });
  }
}
