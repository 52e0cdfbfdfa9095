// Ctrl-P Ctrl-Q among the keys of a terminal: leaves without ending anything, as in docker.
const CTRL_P = 0x10;
const CTRL_Q = 0x11;

/** Finds the two keys in what is typed, also when they come in two chunks. */
export class DetachKeys {
  /** A Ctrl-P was typed and not passed on, since it may be the first of the two. */
  #held = false;

  /** What is for the process, and whether the keys were found; what follows them is dropped. */
  scan(chunk: Uint8Array): { readonly pass: Uint8Array; readonly found: boolean } {
    const pass: number[] = [];
    for (const byte of chunk) {
      if (this.#held && byte === CTRL_Q) return { pass: Uint8Array.from(pass), found: true };
      if (this.#held) pass.push(CTRL_P);
      this.#held = byte === CTRL_P;
      if (!this.#held) pass.push(byte);
    }
    return { pass: Uint8Array.from(pass), found: false };
  }
}
