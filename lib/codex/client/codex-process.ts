// A process at a Codex exec-server: the same class as everywhere, but for its disposal.
import { Process } from "../../process/process.ts";

/** A process whose disposal reaches as far as the dialect does: its group, since it knows no tree. */
export class CodexProcess extends Process {
  /** Kills the process with its group and resolves when it is closed. */
  override async [Symbol.asyncDispose](): Promise<void> {
    await this.terminate();
    await new Promise<void>((resolve) => this.closed$.subscribe({ complete: resolve, error: () => resolve() }));
  }
}
