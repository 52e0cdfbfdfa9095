// Our stdin, stdout and stderr. A descriptor's O_NONBLOCK belongs to all programs that share it, and a blocking write stops our
// event loop with all timeouts and signals. So stdout and stderr are written by libuv's threads, without changing any flag: the
// same for pipes, sockets, files and terminals, also another user's. stdin from a pipe becomes a description of our own.
import { closeSync, constants, fstatSync, openSync, write } from "node:fs";
import { Writable } from "node:stream";
import { isatty } from "node:tty";
import { cLibrary } from "./c-library.ts";

const DESCRIPTORS = [0, 1, 2];

/** How often to try again when another program has made the descriptor non-blocking and it is full. */
const FULL_RETRY_MS = 5;

type Done = (error?: Error | null) => void;

/** Replaces `process.stdout` and `process.stderr`, before anything uses them. */
export function useStandardStreams(): void {
  if (process.platform === "win32") return;
  ownPipe(0);
  replace("stdout", 1);
  replace("stderr", 2);
  const terminals = DESCRIPTORS.filter((fd) => isatty(fd));
  process.on("exit", () => releaseClosedTerminals(terminals));
}

/** Whether the reader of our stdout is gone: its pipe or socket has no other end, or the terminal was closed. */
export function hasLostReader(): boolean {
  return cLibrary()?.hasHungUp(1) ?? false;
}

/** Replaces the description behind a pipe's descriptor by one of our own, if the system permits. */
function ownPipe(fd: number): void {
  try {
    if (!fstatSync(fd).isFIFO()) return;
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
    closeSync(fd);
    // The lowest free number, so `fd` again. Blocking, as a command that inherits it expects.
    openSync(`/proc/self/fd/${own}`, constants.O_RDONLY);
    closeSync(own);
  } catch {
    // Without /proc, or if the pipe belongs to another user, we share it.
  }
}

function replace(name: "stdout" | "stderr", fd: number): void {
  const original = Object.getOwnPropertyDescriptor(process, name)?.get;
  let stream: Writable | undefined;
  const make = () => {
    const made = isatty(fd) && original ? terminalStream(original.call(process), fd) : new DescriptorStream(fd);
    // Each write reports its own error; without a listener the "error" event would end the program with a stack trace.
    // Many writers may wait for a slow reader.
    return made.setMaxListeners(0).on("error", () => undefined);
  };
  Object.defineProperty(process, name, {
    configurable: true,
    enumerable: true,
    get() {
      stream ??= make();
      return stream;
    },
  });
}

/** Node's stream of a terminal, which knows its size, with writes by threads. */
function terminalStream(stream: NodeJS.WriteStream, fd: number): Writable {
  const _write = (chunk: Uint8Array | string, encoding: BufferEncoding, done: Done) =>
    writeByThread(fd, typeof chunk === "string" ? Buffer.from(chunk, encoding) : chunk, done);
  return Object.assign(stream, { _write, _writev: undefined }) as unknown as Writable;
}

class DescriptorStream extends Writable {
  readonly fd: number;

  constructor(fd: number) {
    super();
    this.fd = fd;
  }

  override _write(chunk: Uint8Array, _encoding: BufferEncoding, done: Done): void {
    writeByThread(this.fd, chunk, done);
  }
}

/** Writes all of a chunk. If the program exits before the thread returns, it exits without waiting for it. */
function writeByThread(fd: number, chunk: Uint8Array, done: Done): void {
  if (chunk.length === 0) return done();
  // Registered with each write: it must follow the exit listeners that end processes and restore the terminal.
  const onExit = (code: number) => cLibrary()?.exit(code) ?? process.kill(process.pid, "SIGKILL");
  process.on("exit", onExit);
  const finish = (error?: Error) => {
    process.off("exit", onExit);
    done(error);
  };
  const writeFrom = (start: number) => {
    write(fd, chunk, start, chunk.length - start, null, (error, written) => {
      if (error?.code === "EAGAIN") setTimeout(writeFrom, FULL_RETRY_MS, start);
      else if (error) finish(error);
      else if (start + written < chunk.length) writeFrom(start + written);
      else finish();
    });
  };
  writeFrom(0);
}

/** Node sets the modes of its terminals at the exit and aborts if that fails, so closed terminals are replaced before. */
function releaseClosedTerminals(terminals: readonly number[]): void {
  for (const fd of terminals) {
    if (isatty(fd)) continue;
    try {
      closeSync(fd);
      openSync("/dev/null", constants.O_RDWR);
    } catch {
      // Closed already: Node ignores it.
    }
  }
}
