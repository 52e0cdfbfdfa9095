// A method of the dialect: how its params decode and what it does. Methods are created per connection, which owns their
// handles, watches and streams.
import type { Field } from "../decode.ts";

/** Group of methods; named in the refusal of a call that comes before the handshake is over. */
export type MethodGroup = "exec" | "filesystem" | "http" | "environment info" | "environment status";

/** What methods may use of their connection. */
export interface MethodScope {
  /** Sends a notification. */
  readonly notify: (method: string, params: unknown) => void;
  /** Resolves when the connection has room: a method that sends a lot waits for it. */
  readonly drained: () => Promise<void>;
  /** Aborted when the connection ends. */
  readonly signal: AbortSignal;
}

/** A result too large for strings: its JSON source, in parts. */
export class RawResult {
  readonly parts: readonly Uint8Array[];

  constructor(parts: readonly Uint8Array[]) {
    this.parts = parts;
  }
}

/** A result, and what to start once its reply was sent: no event may precede the reply that announces it. */
export class ReplyThen {
  readonly result: unknown;
  readonly begin: () => void;

  constructor(result: unknown, begin: () => void) {
    this.result = result;
    this.begin = begin;
  }
}

/** One method. */
export interface Method {
  readonly group: MethodGroup;
  /** Decodes params, or throws; the returned function performs the call. */
  prepare(params: unknown): () => Promise<unknown>;
  /** Decodes and performs. Rejects with an error that `toCodexError` converts. An undefined result becomes `{}`. */
  call(params: unknown): Promise<unknown>;
}

/** Methods by name. */
export type MethodTable = Readonly<Record<string, Method>>;

/** Makes a method. */
export function method<P>(
  group: MethodGroup,
  params: Field<P>,
  handle: (params: P) => unknown | Promise<unknown>,
): Method {
  const prepare = (value: unknown) => {
    const decoded = params.decode(value);
    return async () => handle(decoded);
  };
  return { group, prepare, call: async (value) => prepare(value)() };
}
