// Job control for a command in a session of its own, where the terminal's Ctrl-Z does not reach it: it stops when we are stopped,
// and we stop when it stops, so that the shell shows both as one job. Both continue when the shell continues us.
import { isatty } from "node:tty";
import type { Process } from "../../process/process.ts";
import { readLink, readProcess } from "../../spawn/proc/proc.ts";
import { cLibrary } from "../c-library.ts";
import { isHeeded } from "../ignored-signals.ts";

/** Shares stops with the command; the returned function ends that. */
export function shareStops(child: Process): () => void {
  if (process.platform === "win32" || !isHeeded("SIGTSTP") || !isHeeded("SIGTTIN")) return () => undefined;
  const useShells = saveModes();
  const onStop = async () => {
    stopListening();
    // Not SIGTSTP: nothing stops the group of a session leader that way, since no shell could continue it.
    await child.signal("SIGSTOP").catch(() => undefined);
    await stopOurselves();
  };
  const onContinue = () => void child.signal("SIGCONT").catch(() => undefined);
  const stopOurselves = async () => {
    stopListening();
    // The command's modes, or raw mode: a shell may leave them to us.
    const useOurs = isInBackground() ? undefined : saveModes();
    if (useOurs) useShells?.();
    process.kill(process.pid, "SIGTSTP");
    // Here we have been continued, or were never stopped because no shell could continue us. In the background, the command must
    // not take what is typed into the shell: it is in another session, so the kernel does not prevent that.
    while (isInBackground() && isJob() && hasOurStdin(child)) process.kill(process.pid, "SIGTTIN");
    if (!isInBackground()) useOurs?.();
    listen();
    onContinue();
  };
  const onChild = () => {
    if (isStopped(child) && isJob()) void stopOurselves();
  };
  const listen = () => process.on("SIGTSTP", onStop).on("SIGCONT", onContinue).on("SIGCHLD", onChild);
  const stopListening = () => process.off("SIGTSTP", onStop).off("SIGCONT", onContinue).off("SIGCHLD", onChild);
  listen();
  // It may have stopped before.
  onChild();
  return stopListening;
}

/** Saves the modes of our terminal; the returned function sets them again. */
function saveModes(): (() => void) | undefined {
  return isatty(0) ? cLibrary()?.saveModes(0) : undefined;
}

function isStopped({ info: { pid } }: Process): boolean {
  return pid !== undefined && readProcess(pid)?.state === "T";
}

/** Whether the command has our own stdin. */
function hasOurStdin({ info: { pid } }: Process): boolean {
  return readLink(`/proc/${pid}/fd/0`) === readLink("/proc/self/fd/0");
}

/** Whether another job has our terminal. */
export function isInBackground(): boolean {
  const own = readProcess(process.pid);
  return own !== undefined && own.terminal > 0 && own.foreground !== own.group;
}

/** Whether a shell with job control started us as a job. Any other parent would not notice that we stop. */
function isJob(): boolean {
  const own = readProcess(process.pid);
  const parent = readProcess(process.ppid);
  return own !== undefined && own.group === own.pid && own.terminal > 0 && parent?.session === own.session;
}
