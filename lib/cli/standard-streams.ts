// Our stdin, stdout and stderr. A descriptor's O_NONBLOCK belongs to all programs that share it, and a blocking write stops our
// event loop with all timeouts and signals. So stdout and stderr are written by libuv's threads, without changing any flag: the
// same for pipes, sockets, files and terminals, also another user's. stdin from a pipe is read through a description of our own.
import { closeSync, constants, fstatSync, openSync, write } from "node:fs";
import { Socket } from "node:net";
import { Writable } from "node:stream";
import { isatty } from "node:tty";
import { cLibrary } from "./c-library.ts";

const DESCRIPTORS = [0, 1, 2];

/** How often to try again when another program has made the descriptor non-blocking and it is full. */
const FULL_RETRY_MS = 5;

type Done = (error?: Error | null) => void;

/** Replaces `process.stdin`, `stdout` and `stderr`, before anything uses them; each is made when it is first used. */
export function useStandardStreams(): void {
  if (process.platform === "win32") return;
  replace("stdin", (original) => ownPipe(0) ?? withRawMode(original() as NodeJS.ReadStream, 0));
  for (const [name, fd] of [
    ["stdout", 1],
    ["stderr", 2],
  ] as const) {
    replace(name, (original) => {
      const stream = isatty(fd) ? terminalStream(original() as NodeJS.WriteStream, fd) : new DescriptorStream(fd);
      // Each write reports its own error; without a listener the "error" event would end the program with a stack trace. Many
      // writers may wait for a slow reader.
      return stream.setMaxListeners(0).on("error", () => undefined);
    });
  }
  const terminals = DESCRIPTORS.filter((fd) => isatty(fd));
  process.on("exit", () => releaseClosedTerminals(terminals));
}

/** Whether the reader of our stdout is gone: its pipe or socket has no other end, or the terminal was closed. */
export function hasLostReader(): boolean {
  return cLibrary()?.hasHungUp(1) ?? false;
}

function replace(name: "stdin" | "stdout" | "stderr", make: (original: () => unknown) => unknown): void {
  const original = Object.getOwnPropertyDescriptor(process, name)?.get as () => unknown;
  let stream: unknown;
  const get = () => {
    stream ??= make(() => original.call(process));
    return stream;
  };
  Object.defineProperty(process, name, { configurable: true, enumerable: true, get });
}

/** A pipe's stream with a description of its own; undefined if there is no pipe, or the system does not permit it. */
function ownPipe(fd: number): Socket | undefined {
  try {
    if (!fstatSync(fd).isFIFO()) return undefined;
    const own = openSync(`/proc/self/fd/${fd}`, constants.O_RDONLY | constants.O_NONBLOCK);
    // Like Node's own stdin, which reads only on demand: the rest is left for the next program.
    const options = { fd: own, readable: true, writable: false, manualStart: true };
    return new Socket(options);
  } catch {
    // Without /proc, or if the pipe belongs to another user, we share it.
    return undefined;
  }
}

/**
 * The stream of a terminal, with another raw mode. Node's leaves output processing on, where each \n that the command's terminal has
 * turned into \r\n would get another \r, and ends only when a terminal that is paused has shown all output.
 */
function withRawMode(stream: NodeJS.ReadStream, fd: number): NodeJS.ReadStream {
  if (!stream.isTTY) return stream;
  const original = stream.setRawMode.bind(stream);
  let restore: (() => void) | undefined;
  const setRawMode = (isRaw: boolean) => {
    const c = cLibrary();
    if (!c) return original(isRaw);
    if (isRaw) restore ??= c.setRawMode(fd);
    else restore?.();
    if (!isRaw) restore = undefined;
    return Object.assign(stream, { isRaw });
  };
  return Object.assign(stream, { setRawMode });
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

  override _writev(chunks: readonly { readonly chunk: Uint8Array }[], done: Done): void {
    writeByThread(this.fd, Buffer.concat(chunks.map(({ chunk }) => chunk)), done);
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
