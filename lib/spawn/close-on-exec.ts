// Keeps a descriptor that somebody else opened out of the programs we start, where the C library can be called.

/** Marks a descriptor, or does nothing where that is not possible. */
export type CloseOnExec = (fd: number) => void;

const F_SETFD = 2;
const FD_CLOEXEC = 1;

/** Loads the call through koffi; without koffi the answer is a function without effect. */
export async function loadCloseOnExec(): Promise<CloseOnExec> {
  try {
    const { default: koffi } = await import("koffi");
    const fcntl = koffi.load(null).func("int fcntl(int fd, int command, int argument)");
    return (fd) => void fcntl(fd, F_SETFD, FD_CLOEXEC);
  } catch {
    return () => undefined;
  }
}
