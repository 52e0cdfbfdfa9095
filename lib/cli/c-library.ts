// Functions of the C library that the command line needs. Loaded when first used, since most commands need none.
import { createRequire } from "node:module";

/** The functions. */
export interface CLibrary {
  /** poll(2): the other end of a pipe or socket is closed, or the terminal is. */
  hasHungUp(fd: number): boolean;
  /** poll(2): waits until the descriptor takes a few bytes without blocking. */
  takesBytes(fd: number, waitMs: number): boolean;
  /** Sets raw mode, with a bare \n on output too. The returned function restores the modes at once, even if output waits. */
  setRawMode(fd: number): () => void;
  /** tcgetattr(3); the returned function sets the modes again. */
  saveModes(fd: number): () => void;
  /** _exit(2): ends the program without waiting for its threads. */
  exit(code: number): never;
}

const TCSANOW = 0;
/** More than a struct termios has on any system. */
const TERMIOS_BYTES = 128;

const POLLOUT = 4;
const POLLERR = 8;
const POLLHUP = 16;

let loaded: CLibrary | undefined;

/** Loads the functions; undefined where koffi cannot. */
export function cLibrary(): CLibrary | undefined {
  try {
    loaded ??= load();
  } catch {
    return undefined;
  }
  return loaded;
}

function load(): CLibrary {
  const koffi = createRequire(import.meta.url)("koffi") as typeof import("koffi");
  const c = koffi.load(null);
  const poll = c.func("int poll(void *fds, unsigned long count, int timeout)");
  const tcgetattr = c.func("int tcgetattr(int fd, void *termios)");
  const tcsetattr = c.func("int tcsetattr(int fd, int when, void *termios)");
  const cfmakeraw = c.func("void cfmakeraw(void *termios)");
  const exit = c.func("void _exit(int code)");
  const events = (fd: number, wanted: number, waitMs: number): number => {
    // A struct pollfd: int fd, short events, short revents.
    const entry = Int32Array.of(fd, 0);
    const flags = new Int16Array(entry.buffer, 4);
    flags[0] = wanted;
    poll(entry, 1, waitMs);
    return flags[1] ?? 0;
  };
  const modesOf = (fd: number): Buffer => {
    const modes = Buffer.alloc(TERMIOS_BYTES);
    tcgetattr(fd, modes);
    return modes;
  };
  const setModes = (fd: number, modes: Buffer): void => void tcsetattr(fd, TCSANOW, modes);
  return {
    hasHungUp: (fd) => (events(fd, 0, 0) & (POLLERR | POLLHUP)) !== 0,
    takesBytes: (fd, waitMs) => events(fd, POLLOUT, waitMs) === POLLOUT,
    setRawMode(fd) {
      const modes = modesOf(fd);
      const raw = Buffer.from(modes);
      cfmakeraw(raw);
      setModes(fd, raw);
      return () => setModes(fd, modes);
    },
    saveModes(fd) {
      const modes = modesOf(fd);
      return () => setModes(fd, modes);
    },
    exit: (code) => exit(code) as never,
  };
}
