// A supervisor behind a server for the Codex protocol, and its clients.
import { codexDialect } from "../../lib/codex/server/codex-dialect.ts";
import { createSupervisor, type Supervisor, type SupervisorOptions } from "../../lib/local/supervisor.ts";
import { type ExecwireServer, type ServeOptions, serve } from "../../lib/server/server.ts";
import { present } from "../../protocol/index.ts";
import { CodexPeer } from "./codex-peer.ts";
import { settled } from "./system-wait.ts";

/** A token that fits into a header. */
export const CODEX_TOKEN = "token-of-codex-specs";

/** Everything between a process and a Codex client. */
export class CodexHost {
  readonly supervisor: Supervisor;
  readonly server: ExecwireServer;
  readonly #peers: CodexPeer[] = [];

  private constructor(supervisor: Supervisor, server: ExecwireServer) {
    this.supervisor = supervisor;
    this.server = server;
  }

  static async open(options: Partial<ServeOptions> & SupervisorOptions = {}): Promise<CodexHost> {
    const supervisor = createSupervisor(
      present({ limits: options.limits, spawner: options.spawner, subreaper: false }),
    );
    const server = await serve(supervisor, {
      auth: { kind: "token", token: CODEX_TOKEN },
      listen: { host: "127.0.0.1", port: 0 },
      dialect: await codexDialect(),
      ...options,
    });
    return new CodexHost(supervisor, server);
  }

  get url(): string {
    return this.server.url as string;
  }

  async connect(resumeSessionId?: string): Promise<CodexPeer> {
    const peer = await CodexPeer.connect(this.url, CODEX_TOKEN, resumeSessionId);
    this.#peers.push(peer);
    return peer;
  }

  /** Resumes a session as soon as the server has noticed the loss of its connection. */
  async resume(sessionId: string): Promise<CodexPeer> {
    let peer: CodexPeer | undefined;
    let refusal: unknown;
    await settled(
      () => {
        this.connect(sessionId).then(
          (resumed) => {
            peer ??= resumed;
          },
          (error) => {
            refusal = error;
          },
        );
        return peer;
      },
      (value) => value !== undefined,
    );
    if (!peer) throw refusal;
    return peer;
  }

  async close(): Promise<void> {
    for (const { socket } of this.#peers) socket.terminate();
    await this.server.close();
    await this.supervisor.close({ graceMs: 0 });
  }
}
