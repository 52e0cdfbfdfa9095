// The backends of the Codex dialect: the real exec-server, where its binary is installed, and execwire's own server.
import { type ChildProcess, spawn } from "node:child_process";
import { once } from "node:events";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { connectCodex } from "../../lib/codex/client/connect-codex.ts";
import { codexDialect } from "../../lib/codex/server/codex-dialect.ts";
import { createSupervisor } from "../../lib/local/supervisor.ts";
import type { Backend } from "../../lib/process/backend.ts";
import { serve } from "../../lib/server/server.ts";
import type { Limits } from "../../protocol/index.ts";
import { findReference } from "../../scripts/prerequisites.mjs";
import { WireProxy } from "../support/wire-proxy.ts";
import type { Abilities, BackendFactory } from "./backends.ts";

const TOKEN = "token-of-the-contract";

/** A running Codex exec-server. */
export class CodexReference {
  readonly url: string;
  readonly #child: ChildProcess;
  readonly #home: string;

  private constructor(url: string, child: ChildProcess, home: string) {
    this.url = url;
    this.#child = child;
    this.#home = home;
  }

  static async start(binary: string): Promise<CodexReference> {
    const home = mkdtempSync(join(tmpdir(), "execwire-codex-"));
    const child = spawn(binary, ["exec-server", "--listen", "ws://127.0.0.1:0"], {
      stdio: ["ignore", "pipe", "ignore"],
      env: { ...process.env, HOME: home, CODEX_HOME: home },
    });
    // An aborted run must not leave it behind.
    const kill = () => child.kill();
    process.once("exit", kill);
    child.once("exit", () => process.off("exit", kill));
    const [line] = await once(child.stdout, "data");
    return new CodexReference(String(line).trim(), child, home);
  }

  async close(): Promise<void> {
    const over = once(this.#child, "exit");
    this.#child.kill();
    await over;
    rmSync(this.#home, { recursive: true, force: true });
  }
}

async function reference(binary: string, limits: Partial<Limits>): Promise<Backend> {
  const server = await CodexReference.start(binary);
  return composed(await connectCodex(server.url, { limits }), () => server.close());
}

/** Execwire's own server through the dialect; with `cutEvery`, behind a proxy that cuts the connection after that many chunks. */
async function own(limits: Partial<Limits>, cutEvery?: number): Promise<Backend> {
  const supervisor = createSupervisor({ limits });
  const auth = { kind: "token", token: TOKEN } as const;
  const listen = { host: "127.0.0.1", port: 0 };
  const server = await serve(supervisor, { auth, listen, limits, dialect: await codexDialect() });
  const proxy = await WireProxy.to(server.url as string);
  const eager = { ...limits, backoffFirstMs: 1, backoffLastMs: 20 };
  const backend = await connectCodex(proxy.url, { token: TOKEN, limits: eager });
  if (cutEvery) proxy.cutEvery(cutEvery);
  return composed(backend, async () => {
    await proxy.close();
    await server.close();
    await supervisor.close({ graceMs: 0 });
  });
}

/** A backend whose `close` also closes its server. */
function composed(backend: Backend, end: () => Promise<void>): Backend {
  return {
    start: (spec, options) => backend.start(spec, options),
    attach: (processId) => backend.attach(processId),
    list: () => backend.list(),
    changes$: backend.changes$,
    async close(options) {
      await backend.close(options);
      await end();
    },
  };
}

/** Abilities that the dialect itself lacks, on every server. */
const DIALECT = {
  inheritFds: false,
  killAfterExit: false,
  findsDaemons: false,
  presetsTerminal: false,
  closesPipes: false,
  signals: false,
  reportsSignals: false,
  terminatesWithGrace: false,
  sparesDetached: false,
  cancelsStarts: false,
  timeouts: false,
  merge: false,
  setsTerminal: false,
  plainTty: false,
  reportsPid: false,
  reportsSpawnFailures: false,
  facts: false,
  ttyFacts: false,
  refusesLongLines: false,
} as const;

/** Abilities of the real exec-server. */
const REFERENCE = {
  ...DIALECT,
  sparesDetached: true,
  exitAfterOwnOutput: false,
  refusesUnknownFormats: false,
  stdinBackPressure: false,
  ownHost: false,
} as const;

/** The factories of the dialect, without the real exec-server where it is not installed. */
export function codexFactories(supports: Abilities): BackendFactory[] {
  const ours: BackendFactory[] = [
    { name: "codex", supports: { ...supports, ...DIALECT }, create: (limits) => own(limits) },
    { name: "codex-cutting", supports: { ...supports, ...DIALECT }, create: (limits) => own(limits, 100) },
  ];
  const binary = findReference();
  if (!binary) return ours;
  const create = (limits: Partial<Limits>) => reference(binary, limits);
  return [...ours, { name: "codex-reference", supports: { ...supports, ...REFERENCE }, create }];
}
