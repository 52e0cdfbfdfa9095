// A method of the dialect: how its params decode and what it does. A family of methods is made for each connection, which
// is where its handles, watches and streams live.
import type { Field } from "../decode.ts";

/** Which words refuse a call that comes before the handshake is over. */
export type Family = "exec" | "filesystem" | "http" | "environment info" | "environment status";

/** What a family may use of its connection. */
export interface MethodScope {
  /** Tells the client something it did not ask for. */
  readonly notify: (method: string, params: unknown) => void;
  /** Resolves when the connection has room: who tells much waits for it. */
  readonly drained: () => Promise<void>;
  /** Aborted when the connection is over. */
  readonly signal: AbortSignal;
}

/** A result too large to be made of strings: the source of its JSON, in parts. */
export class RawResult {
  readonly parts: readonly Uint8Array[];

  constructor(parts: readonly Uint8Array[]) {
    this.parts = parts;
  }
}

/** A result, and what begins once its reply is on its way: no event may come before the reply that announces it. */
export class Announcement {
  readonly result: unknown;
  readonly begin: () => void;

  constructor(result: unknown, begin: () => void) {
    this.result = result;
    this.begin = begin;
  }
}

/** One method. */
export interface Method {
  readonly family: Family;
  /** Decodes params, or throws; what is returned performs the call. */
  prepare(params: unknown): () => Promise<unknown>;
  /** Decodes and performs; rejects with what `toCodexError` can say. Nothing as a result is `{}`. */
  call(params: unknown): Promise<unknown>;
}

/** Methods by name. */
export type Methods = Readonly<Record<string, Method>>;

/** Makes a method. */
export function method<P>(family: Family, params: Field<P>, handle: (params: P) => unknown | Promise<unknown>): Method {
  const prepare = (value: unknown) => {
    const decoded = params.decode(value);
    return async () => handle(decoded);
  };
  return { family, prepare, call: async (value) => prepare(value)() };
}
