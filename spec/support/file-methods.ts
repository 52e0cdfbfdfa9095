// The methods fs/* of a connection without other methods, called like a dispatcher calls them.
import { CodexError } from "../../lib/codex/codex-error.ts";
import { fileMethods } from "../../lib/codex/server/files/file-methods.ts";
import { RawResult, ReplyThen } from "../../lib/codex/server/method.ts";

/** Such a connection, as a spec uses it. */
export interface FileConnection {
  /** The result of a call, or the code and the message of its refusal. */
  call(method: string, params: unknown): Promise<unknown>;
  /** The result as the method returned it. */
  perform(method: string, params: unknown): Promise<unknown>;
  /** Notifications to the client. */
  readonly told: readonly unknown[];
  /** Names of all methods. */
  readonly names: readonly string[];
  end(): void;
}

/** Creates a connection. */
export function connectFiles(): FileConnection {
  const end = new AbortController();
  const told: unknown[] = [];
  const notify = (method: string, params: unknown) => void told.push({ method, params });
  const methods = fileMethods({ notify, signal: end.signal });
  const perform = (name: string, params: unknown) => {
    const method = methods[name];
    if (!method) throw new Error(`no method ${name}`);
    return method.call(params);
  };
  return {
    perform,
    told,
    names: Object.keys(methods),
    end: () => end.abort(),
    async call(name, params) {
      try {
        const result = await perform(name, params);
        if (result instanceof RawResult) return JSON.parse(Buffer.concat(result.parts).toString());
        if (!(result instanceof ReplyThen)) return result ?? {};
        result.begin();
        return result.result;
      } catch (error) {
        if (error instanceof CodexError) return `${error.code} ${error.message}`;
        throw error;
      }
    },
  };
}
