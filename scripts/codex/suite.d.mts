// Types of suite.mjs.

/** A server to run checks on. startServer starts one, but any URL with its token works for most checks. */
export interface Target {
  readonly kind: "ours" | "reference";
  readonly url: string;
  readonly token: string;
}

/** One promise of the protocol document. */
export interface Check {
  /** Subject and name, as in `write/conflict`. */
  readonly id: string;
  /** The section of the document that promises it. */
  readonly section: string;
  /** The promise, as a sentence. */
  readonly what: string;
  /** The expected observation. */
  readonly expect: unknown;
  /** The observation on our server if it is better on purpose, and why. */
  readonly better?: { readonly expect: unknown; readonly why: string };
  /** What the server needs for it. */
  readonly needs?: "sandbox";
  /** Takes more than three seconds. */
  readonly slow?: boolean;
  /** The only server that the check applies to. */
  readonly only?: "ours" | "reference";
}

export declare const checks: readonly Check[];

/** Runs a check; returns the observation, and whether it matches `expect` or `better`. */
export declare function runCheck(
  check: Check,
  target: Target,
): Promise<{ readonly seen: unknown; readonly verdict: "expected" | "better" | "wrong" }>;

/** Starts a server with the environment that some checks rely on. */
export declare function startServer(kind: Target["kind"]): Promise<Target & { stop(): Promise<void> }>;
