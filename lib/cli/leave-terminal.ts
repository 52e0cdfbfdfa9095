// Leaves the terminal as it is when this program ends. Node sets its modes to those at our start, although the command may have
// changed them, or another job may use the terminal by now (`vim` while `execwire run` ends in the background). Where the terminal
// is gone, Node aborts.
import { closeSync, fstatSync } from "node:fs";
import { isatty } from "node:tty";

/** At our start: later, a terminal that is gone is none. */
const terminals = [0, 1, 2].filter((fd) => isatty(fd));

function isOpen(fd: number): boolean {
  try {
    return fstatSync(fd) !== undefined;
  } catch {
    return false;
  }
}

/** Call it after all other listeners for the exit are added. What is written later is lost. */
export function leaveTerminal(): void {
  process.on("exit", () => {
    // Node leaves a descriptor alone that is closed.
    for (const fd of terminals.filter(isOpen)) closeSync(fd);
  });
}
