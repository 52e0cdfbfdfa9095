// The file methods of a connection for requests with and without a sandbox. With one, each request gets a helper of its own inside
// that sandbox, as with the exec-server: the policy is applied to the files as they are now. A helper that has opened a file or
// watches stays for as long.
import type { SandboxPolicy } from "../../../../protocol/index.ts";
import type { Backend } from "../../../process/backend.ts";
import { CODE, CodexError } from "../../codex-error.ts";
import { isMap } from "../../decode.ts";
import { type Method, type MethodScope, type MethodTable, type RawResult, ReplyThen } from "../method.ts";
import { filePolicyOf } from "../sandbox-request.ts";
import { fileMethods } from "./file-methods.ts";
import { FileHelper } from "./helper-process.ts";

/** Files that a connection may have open in sandboxes: each costs a process. */
const MAX_SANDBOXED_FILES = 16;

/** What the methods use of their connection. */
export interface SandboxedFileScope extends Pick<MethodScope, "notify" | "signal"> {
  readonly context: { readonly backend: Backend };
}

/** The file methods of one connection; `always` is the sandbox of requests without one. */
export function sandboxedFileMethods(scope: SandboxedFileScope, always?: SandboxPolicy): MethodTable {
  const plain = fileMethods(scope);
  const files = new SandboxedFiles(scope, plain);
  return Object.fromEntries(
    Object.entries(plain).map(([name, method]) => [name, sandboxable(name, method, files, always)]),
  );
}

function sandboxable(name: string, method: Method, files: SandboxedFiles, always: SandboxPolicy | undefined): Method {
  const prepare = (params: unknown) => {
    const { sandbox, ...rest } = isMap(params) ? params : {};
    const policy = filePolicyOf(sandbox) ?? always;
    const call = method.prepare(policy ? rest : params);
    return () => files.perform({ name, params: rest, policy, call });
  };
  return { group: method.group, prepare, call: async (params) => prepare(params)() };
}

interface FileRequest {
  readonly name: string;
  readonly params: Readonly<Record<string, unknown>>;
  readonly policy: SandboxPolicy | undefined;
  /** Performs it without a sandbox. */
  readonly call: () => Promise<unknown>;
}

/** Requests are performed one after another: see `RequestRunner`. */
class SandboxedFiles {
  readonly #scope: SandboxedFileScope;
  readonly #plain: MethodTable;
  /** Open files by their ids; undefined for one that was opened without a sandbox. */
  readonly #open = new Map<string, FileHelper | undefined>();
  readonly #running = new Set<FileHelper>();
  #watch: FileHelper | undefined;
  #latestWatch = -1;

  constructor(scope: SandboxedFileScope, plain: MethodTable) {
    this.#scope = scope;
    this.#plain = plain;
    const endAll = () => {
      for (const helper of this.#running) void helper.end();
    };
    scope.signal.addEventListener("abort", endAll, { once: true });
  }

  async perform(request: FileRequest): Promise<unknown> {
    const { name, params, policy, call } = request;
    switch (name) {
      case "fs/open":
        return this.#openFile(request);
      case "fs/readBlock":
      case "fs/writeBlock": {
        const helper = this.#open.get(params.handleId as string);
        return helper ? helper.call(name, params) : call();
      }
      case "fs/close":
        return this.#close(request);
      case "fs/watchMissing":
        return this.#watchMissing(request);
    }
    if (!policy) return call();
    const helper = await this.#start(policy);
    return helper.call(name, params).finally(() => this.#end(helper));
  }

  async #openFile({ name, params, policy, call }: FileRequest): Promise<unknown> {
    const id = params.handleId as string;
    if (this.#open.has(id)) throw new CodexError(CODE.refused, `file handle \`${id}\` already exists`);
    let helper: FileHelper | undefined;
    if (policy) {
      const sandboxed = [...this.#open.values()].filter((each) => each !== undefined).length;
      if (sandboxed >= MAX_SANDBOXED_FILES) {
        const message = `at most ${MAX_SANDBOXED_FILES} file handles with a sandbox may be open per connection`;
        throw new CodexError(CODE.refused, message);
      }
      helper = await this.#start(policy);
    }
    try {
      const result = helper ? await helper.call(name, params) : await call();
      this.#open.set(id, helper);
      return result;
    } catch (error) {
      if (helper) await this.#end(helper);
      throw error;
    }
  }

  async #close({ name, params, call }: FileRequest): Promise<unknown> {
    const id = params.handleId as string;
    const helper = this.#open.get(id);
    this.#open.delete(id);
    if (!helper) return call();
    return helper.call(name, params).finally(() => this.#end(helper));
  }

  /** One watch at a time, of either kind: see `FileWatch`. */
  async #watchMissing({ name, params, policy, call }: FileRequest): Promise<unknown> {
    const watchId = params.watchId as number;
    const isOutdated = watchId <= this.#latestWatch;
    this.#latestWatch = Math.max(watchId, this.#latestWatch);
    if (isOutdated) return policy ? { watching: false } : call();
    if (this.#watch) await this.#end(this.#watch);
    this.#watch = undefined;
    if (!policy) return call();
    // Ends the watch outside of a sandbox.
    await this.#plain[name]?.call({ watchId, missing: [] });
    const helper = await this.#start(policy);
    const result = await helper.call(name, params).catch(async (error) => {
      await this.#end(helper);
      throw error;
    });
    if (isWatching(result)) this.#watch = helper;
    else await this.#end(helper);
    return new ReplyThen(JSON.parse(textOf(result)), () => helper.forward(this.#scope.notify));
  }

  async #start(policy: SandboxPolicy): Promise<FileHelper> {
    const helper = await FileHelper.start(this.#scope.context.backend, policy);
    this.#running.add(helper);
    if (this.#scope.signal.aborted) await this.#end(helper);
    return helper;
  }

  async #end(helper: FileHelper): Promise<void> {
    this.#running.delete(helper);
    await helper.end();
  }
}

function isWatching(result: RawResult): boolean {
  return JSON.parse(textOf(result)).watching === true;
}

function textOf({ parts }: RawResult): string {
  return Buffer.concat(parts).toString();
}
