// A child spawned by child_process, whose streams are Node's own sockets.
import type { ChildProcess } from "node:child_process";
import type { Readable } from "node:stream";
import type { StreamName } from "../../../protocol/index.ts";
import type { ChildStdin } from "../child.ts";
import type { ChildIo, IoSink } from "../io/child-io.ts";
import type { StreamFile } from "../proc/open-files.ts";

/** Reads and writes the sockets of a ChildProcess. */
export class SocketIo implements ChildIo {
  readonly streams: readonly StreamName[];
  readonly stdin: ChildStdin | undefined;
  // Each end of a socketpair has its own inode, and /proc does not show which ends belong together.
  readonly isTraceable = false;
  readonly files: readonly StreamFile[] = [];
  readonly openFiles: readonly StreamFile[] = [];
  readonly #child: ChildProcess;

  constructor(child: ChildProcess) {
    this.#child = child;
    this.streams = child.stderr ? ["stdout", "stderr"] : ["stdout"];
    const { stdin } = child;
    stdin?.on("error", () => undefined);
    if (stdin) {
      this.stdin = {
        write: (chunk, done) => stdin.write(chunk, (error) => done(error ?? undefined)),
        end: () => stdin.end(),
      };
    }
  }

  connect(sink: IoSink): void {
    for (const stream of this.streams) {
      const readable = this.#readable(stream);
      readable.on("data", (chunk: Buffer) => sink.output(stream, chunk));
      readable.on("error", () => undefined);
      readable.once("close", () => sink.ended(stream));
    }
  }

  startReading(): void {}

  pause(): void {
    for (const stream of this.streams) this.#readable(stream).pause();
  }

  resume(): void {
    for (const stream of this.streams) this.#readable(stream).resume();
  }

  resize(): void {}

  exited(): void {
    this.#child.stdin?.destroy();
  }

  release(): void {
    this.#child.stdin?.destroy();
    for (const stream of this.streams) this.#readable(stream).destroy();
  }

  #readable(stream: StreamName): Readable {
    return (stream === "stderr" ? this.#child.stderr : this.#child.stdout) as Readable;
  }
}
