// Types of suite.mjs.

/** A server to run checks on; startServer makes one, but any URL with its token will do for most checks. */
export interface Target {
  readonly kind: "ours" | "reference";
  readonly url: string;
  readonly token: string;
}

/** One promise of the protocol document. */
export interface Check {
  /** Subject and name, as in `write/conflict`. */
  readonly id: string;
  /** Where the document promises it. */
  readonly section: string;
  /** The promise, as a sentence. */
  readonly what: string;
  /** What must be observed. */
  readonly expect: unknown;
  /** What ours does instead, and why that is better. */
  readonly better?: { readonly expect: unknown; readonly why: string };
  /** Takes more than three seconds. */
  readonly slow?: boolean;
  /** Makes sense on one of the servers only. */
  readonly only?: "ours" | "reference";
}

export declare const checks: readonly Check[];

/** Runs a check and tells what was seen, and whether that is what `expect`, or `better`, wants. */
export declare function runCheck(
  check: Check,
  target: Target,
): Promise<{ readonly seen: unknown; readonly verdict: "expected" | "better" | "wrong" }>;

/** Starts the built server, with the environment that some checks count on. */
export declare function startServer(kind: Target["kind"]): Promise<Target & { stop(): Promise<void> }>;
