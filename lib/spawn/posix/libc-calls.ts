// Functions of the C library that Node does not offer, bound through koffi. `Libc` documents them. koffi type names are global to
// the process, so all types here are anonymous.
import koffi from "koffi";

/** Binds all functions. Throws if the C library lacks one that is not optional. */
export function bind() {
  const c = koffi.load(null);
  const f = (prototype: string) => c.func(prototype);
  return {
    pipe2: f("int pipe2(void *fds, int flags)"),
    // glibc 2.27.
    memfdCreate: f("int memfd_create(const char *name, unsigned int flags)"),
    fcntl: f("int fcntl(int fd, int command, int argument)"),
    ioctl: f("int ioctl(int fd, unsigned long request, void *argument)"),
    prctl: f("int prctl(int option, unsigned long a, unsigned long b, unsigned long c, unsigned long d)"),
    // The 64-bit variant: prlimit64 in glibc, prlimit elsewhere.
    prlimit:
      optional(() => f("int prlimit64(int pid, int resource, void *set, void *got)")) ??
      optional(() => f("int prlimit(int pid, int resource, void *set, void *got)")),
    clockGettime: f("int clock_gettime(int clock, void *time)"),
    sysconf: f("long sysconf(int name)"),
    syscall: f("long syscall(long number, long a, long b, long c, long d)"),
    wait4: f("int wait4(int pid, void *status, int options, void *usage)"),
    getrusage: f("int getrusage(int who, void *usage)"),
    waitid: f("int waitid(int type, int id, void *info, int options)"),
    openpt: f("int posix_openpt(int flags)"),
    grantpt: f("int grantpt(int fd)"),
    unlockpt: f("int unlockpt(int fd)"),
    ptsname: f("int ptsname_r(int fd, void *name, size_t size)"),
    tcgetattr: f("int tcgetattr(int fd, void *termios)"),
    tcsetattr: f("int tcsetattr(int fd, int when, void *termios)"),
    cfmakeraw: f("void cfmakeraw(void *termios)"),
    spawn: f(
      "int posix_spawn(void *pid, const char *file, void *actions, void *attributes, const char **argv, const char **envp)",
    ),
    actionsInit: f("int posix_spawn_file_actions_init(void *actions)"),
    actionsDestroy: f("int posix_spawn_file_actions_destroy(void *actions)"),
    addChdir: f("int posix_spawn_file_actions_addchdir_np(void *actions, const char *path)"),
    addOpen: f("int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, int mode)"),
    addDup2: f("int posix_spawn_file_actions_adddup2(void *actions, int from, int to)"),
    addClose: f("int posix_spawn_file_actions_addclose(void *actions, int fd)"),
    // glibc 2.34; musl has none.
    addCloseFrom: optional(() => f("int posix_spawn_file_actions_addclosefrom_np(void *actions, int from)")),
    attrInit: f("int posix_spawnattr_init(void *attributes)"),
    attrFlags: f("int posix_spawnattr_setflags(void *attributes, short flags)"),
    attrSigDefault: f("int posix_spawnattr_setsigdefault(void *attributes, void *set)"),
    attrSigMask: f("int posix_spawnattr_setsigmask(void *attributes, void *set)"),
  };
}

function optional<T>(bindIt: () => T): T | undefined {
  try {
    return bindIt();
  } catch {
    return undefined;
  }
}
