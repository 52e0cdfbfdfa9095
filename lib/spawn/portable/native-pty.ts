// node-pty's native binding, without node-pty's own reader, which loses the end of the output in one run of five (node-pty#85,
// #726). The exact version is pinned, since this interface is not public.
import { createRequire } from "node:module";
import { dirname, resolve } from "node:path";
import { loadCloseOnExec } from "./close-on-exec.ts";

/** The part of the binding used here. */
export interface NativePty {
  fork(
    file: string,
    args: readonly string[],
    env: readonly string[],
    cwd: string,
    cols: number,
    rows: number,
    onExit: (code: number, signal: number) => void,
  ): { readonly fd: number; readonly pid: number; readonly pty: string };
  resize(fd: number, cols: number, rows: number): void;
}

/** Loads the addon. Called for the first terminal only, so that a host without the addon can still use pipes. */
export async function loadNativePty(): Promise<NativePty> {
  const require = createRequire(import.meta.url);
  const utils = require("node-pty/lib/utils.js");
  const { dir, module } = utils.loadNativeModule("pty");
  const helper = resolve(dirname(require.resolve("node-pty/lib/utils.js")), dir, "spawn-helper");
  const closeOnExec = await loadCloseOnExec();
  return {
    fork(file, args, env, cwd, cols, rows, onExit) {
      // uid and gid -1: ours. utf8: the terminal erases whole characters.
      const forked = module.fork(file, args, env, cwd, cols, rows, -1, -1, true, helper, onExit);
      // node-pty does not set close-on-exec: programs started later would inherit the master.
      closeOnExec(forked.fd);
      return forked;
    },
    resize: (fd, cols, rows) => module.resize(fd, cols, rows, 0, 0),
  };
}
