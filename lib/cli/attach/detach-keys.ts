// Ctrl-P Ctrl-Q detaches from a process and leaves it running, as in docker.
const CTRL_P = 0x10;
const CTRL_Q = 0x11;

/** Finds the two keys in terminal input, also when they arrive in two chunks. */
export class DetachKeys {
  /** The last key was Ctrl-P. It is held back, since Ctrl-Q may follow. */
  #isCtrlPPending = false;

  /** Returns the bytes for the process and whether the keys were found; input after the keys is dropped. */
  scan(chunk: Uint8Array): { readonly pass: Uint8Array; readonly found: boolean } {
    const pass: number[] = [];
    for (const byte of chunk) {
      if (this.#isCtrlPPending && byte === CTRL_Q) return { pass: Uint8Array.from(pass), found: true };
      if (this.#isCtrlPPending) pass.push(CTRL_P);
      this.#isCtrlPPending = byte === CTRL_P;
      if (!this.#isCtrlPPending) pass.push(byte);
    }
    return { pass: Uint8Array.from(pass), found: false };
  }
}
