// A process on a Codex exec-server: differs from `Process` only in its disposal.
import { Process } from "../../process/process.ts";

/** Disposal reaches only the process group, since the dialect knows no tree. */
export class CodexProcess extends Process {
  /** Kills the process with its group and resolves when it is closed. */
  override async [Symbol.asyncDispose](): Promise<void> {
    await this.terminate();
    await new Promise<void>((resolve) => this.closed$.subscribe({ complete: resolve, error: () => resolve() }));
  }
}
