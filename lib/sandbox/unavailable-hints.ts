// Why a sandbox cannot be set up on this machine, by what bubblewrap prints. Distributions change the wording a little, so the
// patterns match only its core.

const HINTS: readonly (readonly [pattern: RegExp, hint: string])[] = [
  [
    /setting up uid map: Permission denied|Failed RTM_NEW(ADDR|LINK)/,
    "unprivileged user namespaces are restricted here, by AppArmor on Ubuntu since 23.10: load an AppArmor profile for " +
      "/usr/bin/bwrap (bwrap-userns-restrict), or run sysctl kernel.apparmor_restrict_unprivileged_userns=0",
  ],
  [
    /No permissions to creat(e|ing) new namespace|Creating new namespace failed: Operation not permitted/,
    "user namespaces are not permitted here: by a container's seccomp profile, in a chroot, or by sysctl kernel.unprivileged_userns_clone=0",
  ],
  [/ENOSPC/, "sysctl user.max_user_namespaces is 0 or used up, or this program itself runs in such a sandbox"],
  [
    /Can't mount proc/,
    "a new /proc cannot be mounted, since the container masks parts of its own: run it with --security-opt systempaths=unconfined",
  ],
  [
    /Failed to make \/ slave|pivot_root/,
    "this container or root file system does not permit pivot_root or mount propagation",
  ],
  [/Resource temporarily unavailable/, "the limit of processes is reached (RLIMIT_NPROC, or the pids cgroup)"],
];

/** The hint for what bubblewrap printed; undefined if the cause is not known. */
export function hintFor(stderr: string): string | undefined {
  return HINTS.find(([pattern]) => pattern.test(stderr))?.[1];
}
