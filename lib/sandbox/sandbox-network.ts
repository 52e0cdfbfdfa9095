// A network that a sandbox enters instead of making one.

/** A network of one process. */
export interface SandboxNetwork {
  /** Paths of its network namespace and of the user namespace that owns it, until `entered`. */
  readonly paths: { readonly net: string; readonly user: string };
  /** The sandbox is in it: the paths are needed no more. */
  readonly entered: () => void;
  /** Whether it refused a connection of the process. */
  readonly hasDenied: boolean;
  /** The process is to end: refuses what waits for a decision. */
  readonly refusePending: () => void;
  /** Call it once, when the streams of the process are closed. */
  readonly close: () => void;
}
