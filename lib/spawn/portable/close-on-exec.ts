// Keeps a descriptor that another library opened out of the programs we start, if the C library can be called.

/** Sets close-on-exec on a descriptor, or does nothing where that is not possible. */
export type CloseOnExec = (fd: number) => void;

const F_SETFD = 2;
const FD_CLOEXEC = 1;

/** Loads fcntl(2) through koffi; without koffi, resolves to a function that does nothing. */
export async function loadCloseOnExec(): Promise<CloseOnExec> {
  try {
    const { default: koffi } = await import("koffi");
    const fcntl = koffi.load(null).func("int fcntl(int fd, int command, int argument)");
    return (fd) => void fcntl(fd, F_SETFD, FD_CLOEXEC);
  } catch {
    return () => undefined;
  }
}
