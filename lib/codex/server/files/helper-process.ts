// Starts a file helper (`file-helper.ts`) in a sandbox and talks to it. It is a process of the backend like any other, so that it
// ends with it, and cannot run without its sandbox.
import { realpath } from "node:fs/promises";
import { createRequire } from "node:module";
import { dirname, join } from "node:path";
import type { SandboxPolicy } from "../../../../protocol/index.ts";
import type { Backend } from "../../../process/backend.ts";
import type { Process } from "../../../process/process.ts";
import { CODE, CodexError } from "../../codex-error.ts";
import { RawResult } from "../method.ts";
import { sandboxUnavailable } from "../sandbox-request.ts";
import { type HelperMessageKind, HelperMessages } from "./helper-messages.ts";

/** Where the build puts the helper, in this package: one file, so that the sandbox shows nothing else of it. */
const HELPER = "dist/lib/codex/server/files/file-helper.mjs";

/** Bytes of a request that are written at a time. */
const PIECE_BYTES = 256 * 1024;

type Notify = (method: string, params: unknown) => void;

/** A running helper. It does one request at a time. */
export class FileHelper {
  readonly #process: Process;
  readonly #ended: Promise<void>;
  #settle: { resolve(result: RawResult): void; reject(error: unknown): void } | undefined;
  /** Notifications are held back until the reply that announces them was sent. */
  readonly #held: { readonly method: string; readonly params: unknown }[] = [];
  #notify: Notify | undefined;

  private constructor(process: Process) {
    this.#process = process;
    this.#ended = this.#read().catch((error: unknown) => this.#settle?.reject(error));
  }

  /** Rejects as a start with this policy does. */
  static async start(backend: Backend, policy: SandboxPolicy): Promise<FileHelper> {
    const files = await fileHelperRules();
    const started = await backend.start({
      argv: files.map(({ path }) => path),
      cwd: "/",
      env: {},
      pipeStdin: true,
      sandbox: { ...policy, files: [...policy.files, ...files], network: "none" },
      labels: { codex: "files" },
    });
    return new FileHelper(started);
  }

  /** Performs one method. Rejects with the error that it would have without a sandbox. */
  async call(method: string, params: unknown): Promise<RawResult> {
    const reply = new Promise<RawResult>((resolve, reject) => {
      this.#settle = { resolve, reject };
    });
    reply.catch(() => undefined);
    const request = Buffer.from(`${JSON.stringify({ method, params })}\n`);
    for (let at = 0; at < request.length; at += PIECE_BYTES)
      await this.#process.write(request.subarray(at, at + PIECE_BYTES));
    return await reply;
  }

  /** Passes its notifications on, those of the past first. */
  forward(notify: Notify): void {
    this.#notify = notify;
    for (const { method, params } of this.#held.splice(0)) notify(method, params);
  }

  /** Ends it. */
  async end(): Promise<void> {
    await this.#process.terminate({ graceMs: 0 }).catch(() => undefined);
    await this.#ended;
  }

  async #read(): Promise<void> {
    const messages = new HelperMessages((kind, json) => this.#onMessage(kind, json));
    const said: Buffer[] = [];
    for await (const event of this.#process) {
      if (event.type !== "output") continue;
      if (event.stream === "stdout") messages.add(event.chunk);
      else said.push(Buffer.from(event.chunk));
    }
    const reason = Buffer.concat(said).toString().trim();
    this.#settle?.reject(new CodexError(CODE.failed, `the file helper in the sandbox has ended ${reason}`.trim()));
  }

  #onMessage(kind: HelperMessageKind, json: Buffer): void {
    if (kind === "result") return this.#settle?.resolve(new RawResult([json]));
    const value = JSON.parse(json.toString());
    if (kind === "error") return this.#settle?.reject(new CodexError(value.code, value.message, value.data));
    if (this.#notify) this.#notify(value.method, value.params);
    else this.#held.push(value);
  }
}

/** What a sandbox must show for a helper to run in it: the program, and its one file. */
export async function fileHelperRules(): Promise<readonly { readonly path: string; readonly access: "read" }[]> {
  const paths = [await realpath(process.execPath), await findHelper()];
  return paths.map((path) => ({ path, access: "read" }));
}

async function findHelper(): Promise<string> {
  try {
    const root = dirname(createRequire(import.meta.url).resolve("execwire/package.json"));
    return await realpath(join(root, HELPER));
  } catch (error) {
    // Bundled into another program, which has no such file.
    throw sandboxUnavailable(`the file helper of this package is missing: ${(error as Error).message}`);
  }
}
