// A client of a scripted Codex exec-server, with a running process and a fake clock.
import type { CodexBackend } from "../../lib/codex/client/codex-backend.ts";
import { connectCodex } from "../../lib/codex/client/connect-codex.ts";
import type { Process } from "../../lib/process/process.ts";
import type { Limits, ProcessSpec } from "../../protocol/index.ts";
import { CodexScript, type CodexScriptConnection } from "./codex-script.ts";
import { FakeClock } from "./fake-clock.ts";

/** Longer than the client waits for an event before it reads it. */
export const HOLE_MS = 250;

/** The client reconnects within a millisecond, before any other timer fires. */
const EAGER = { backoffFirstMs: 1, backoffLastMs: 1 };

/** The set-up of a spec of the client. */
export class CodexClientWorld {
  readonly clock = new FakeClock();
  readonly script: CodexScript;
  /** The current connection. */
  server!: CodexScriptConnection;
  backend!: CodexBackend;

  private constructor(script: CodexScript) {
    this.script = script;
  }

  static async open(
    limits: Partial<Limits> = {},
    welcome: (connection: CodexScriptConnection) => Promise<unknown> = (connection) => connection.welcome(),
  ): Promise<CodexClientWorld> {
    const world = new CodexClientWorld(await CodexScript.listen());
    const connecting = connectCodex(world.script.url, { clock: world.clock, limits: { ...EAGER, ...limits } });
    world.server = await world.script.connection();
    await welcome(world.server);
    world.backend = await connecting;
    return world;
  }

  /** Starts a process with the id `p`. */
  async start(spec: Partial<ProcessSpec> = {}): Promise<Process> {
    const starting = this.backend.start({ argv: ["program"], processId: "p", cwd: "/", ...spec });
    await this.server.answer("process/start", { processId: spec.processId ?? "p", sandboxType: "none" });
    return starting;
  }

  /** Cuts the connection; the client reconnects. */
  async reconnect(): Promise<void> {
    this.server.cut();
    await this.recovering();
    await this.comeBack();
  }

  /** Advances the clock until the client has reconnected: the end of a socket is reported asynchronously. */
  async comeBack(): Promise<void> {
    let isBack = false;
    const pass = () => {
      if (isBack) return;
      this.clock.advance(1);
      setImmediate(pass);
    };
    pass();
    this.server = await this.script.connection();
    isBack = true;
  }

  /** Waits until the client has noticed the loss of its connection. */
  recovering(): Promise<void> {
    return new Promise((resolve) => {
      this.backend.link.state$.subscribe((state) => {
        if (state === "recovering") resolve();
      });
    });
  }

  async close(): Promise<void> {
    this.backend.link.close();
    await this.script.close();
  }
}
