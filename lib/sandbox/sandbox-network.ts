// The network of one process, as far as its sandbox and its child know it.

/** What judges the connections of one process. */
export interface ChildNetwork {
  /** Whether it refused a connection of the process. */
  readonly hasDenied: boolean;
  /** The process is to end: refuses what waits for a decision. */
  refusePending(): void;
  /** To be called once, when the streams of the process are closed. */
  close(): void;
}

/** A network that a sandbox enters instead of making one. */
export interface SandboxNetwork extends ChildNetwork {
  /** Paths of its network namespace and of the user namespace that owns it, until `entered`. */
  readonly paths: { readonly net: string; readonly user: string };
  /** The sandbox is in it: the paths are needed no more. */
  entered(): void;
}
