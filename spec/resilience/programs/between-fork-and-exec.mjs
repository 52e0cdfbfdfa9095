// Ends the tree of a process on a terminal while a child of this program is between fork and exec, where it has
// all our descriptors. Reports the wait status of that child: 0, or the signal that killed it.
import { execFileSync } from "node:child_process";
import { closeSync, mkdtempSync, openSync, readdirSync, readFileSync, readlinkSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import koffi from "koffi";
import { lastValueFrom } from "rxjs";
import { createSupervisor } from "../../../dist/lib/index.js";

const libc = koffi.load(null);
const init = libc.func("int posix_spawn_file_actions_init(void *actions)");
const addOpen = libc.func(
  "int posix_spawn_file_actions_addopen(void *actions, int fd, const char *path, int flags, int mode)",
);
const spawn = libc.func(
  "int posix_spawn(_Out_ int *pid, const char *file, void *actions, void *attributes, const char **argv, const char **envp)",
);
const waitpid = libc.func("int waitpid(int pid, _Out_ int *status, int options)");

const folder = mkdtempSync(join(tmpdir(), "execwire-spec-"));
const fifo = join(folder, "fifo");
execFileSync("mkfifo", [fifo]);
const supervisor = createSupervisor({ spawner: "posix" });
const victim = await supervisor.start({ argv: ["/bin/sleep", "1000"], tty: true });

// It opens the FIFO before exec, and waits there for a writer.
const actions = Buffer.alloc(128);
init(actions);
addOpen(actions, 9, fifo, 0, 0);
const pid = [0];
const spawned = new Promise((resolve) => spawn.async(pid, "/bin/true", actions, null, ["true", null], [null], resolve));
while (!readdirSync("/proc/self/task").some((thread) => childrenOf(thread).some(isNewborn))) await pause();
await victim.terminate({ graceMs: 0, scope: "tree" });
await lastValueFrom(victim.exit$);
// Opened for reading and writing: a killed child does not read, and a mere writer would wait for it.
const writer = openSync(fifo, "r+");
await spawned;
const status = [0];
waitpid(pid[0], status, 0);
closeSync(writer);
rmSync(folder, { recursive: true });
await supervisor.close();
console.log(JSON.stringify(status[0]));

function childrenOf(thread) {
  return readFileSync(`/proc/self/task/${thread}/children`, "latin1").trim().split(" ").filter(Boolean);
}

function isNewborn(child) {
  return readlinkSync(`/proc/${child}/exe`) === readlinkSync("/proc/self/exe");
}

function pause() {
  return new Promise((resolve) => setTimeout(resolve, 10));
}
