// Finds the control sequences (ECMA-48) in a terminal's output, also when chunks split them. Bytes from 0x80 on are text: in UTF-8
// they are parts of characters.

const ESC = 0x1b;
const BEL = 0x07;
/** CAN and SUB abort a sequence. */
const isAbort = (byte: number) => byte === 0x18 || byte === 0x1a;
/** ENQ, SO and SI ask or switch something although they are single bytes. */
const isSingle = (byte: number) => byte === 0x05 || byte === 0x0e || byte === 0x0f;

const NOTHING = new Uint8Array(0);

/** A longer one is an image or a clipboard, and passes as text. */
const MAX_BYTES = 4096;

/** After ESC: `[` begins a CSI, `]` an OSC, which BEL ends too, and these a string that ends with ESC \: DCS SOS PM APC. */
const STRINGS = new Map([..."PX^_"].map((letter) => [letter.charCodeAt(0), "string"] as const));
const INTRODUCERS = new Map<number, State>([[0x5b, "csi"], [0x5d, "osc"], ...STRINGS]);

type State = "text" | "escape" | "intermediate" | "csi" | "osc" | "string" | "osc-escape" | "string-escape";

/** What a CSI, OSC, DCS or APC holds between its introducer and the end of the string. */
export function bodyOf(sequence: string): string {
  if (sequence.endsWith("\x1b\\")) return sequence.slice(2, -2);
  return sequence.slice(2, sequence.endsWith("\x07") ? -1 : undefined);
}

/** Takes the sequences out of a stream of chunks. */
export class ControlSequences {
  #state: State = "text";
  /** The bytes of the sequence that is not complete yet. */
  #sequence: number[] = [];

  /**
   * Returns the chunk without the sequences, in latin1, for which `keep` returns false. The beginning of a sequence is returned
   * when it is complete: a terminal does nothing with it before, either.
   */
  filter(chunk: Uint8Array, keep: (sequence: string) => boolean): Uint8Array {
    const kept: Uint8Array[] = [];
    let begun: Uint8Array = this.#sequence.length > 0 ? Uint8Array.from(this.#sequence) : NOTHING;
    /** Where the bytes begin that are neither kept nor dropped yet, and where the current sequence begins. */
    let from = 0;
    let start = 0;
    const keepBegun = () => {
      if (begun.length > 0) kept.push(begun);
      begun = NOTHING;
    };
    for (let at = 0; at < chunk.length; at += 1) {
      const byte = chunk[at] as number;
      if (this.#state === "text" && byte !== ESC && !isSingle(byte)) continue;
      if (this.#state === "text" || this.#isRestart(byte)) {
        keepBegun();
        start = at;
        this.#sequence = [];
        this.#state = "text";
      }
      this.#sequence.push(byte);
      const isLong = this.#sequence.length === MAX_BYTES;
      this.#state = isLong ? "text" : this.#next(byte);
      if (this.#state !== "text") continue;
      if (isLong || keep(String.fromCharCode(...this.#sequence))) keepBegun();
      else {
        begun = NOTHING;
        kept.push(chunk.subarray(from, start));
        from = at + 1;
      }
      this.#sequence = [];
    }
    if (from === 0 && this.#state === "text" && kept.length === 0) return chunk;
    kept.push(this.#state === "text" ? chunk.subarray(from) : chunk.subarray(from, Math.max(from, start)));
    return Buffer.concat(kept);
  }

  /** An ESC that begins the next sequence instead of ending the current one. */
  #isRestart(byte: number): boolean {
    return byte === ESC && (this.#state === "escape" || this.#state === "intermediate" || this.#state === "csi");
  }

  #next(byte: number): State {
    if (isAbort(byte)) return "text";
    switch (this.#state) {
      case "text":
        return byte === ESC ? "escape" : "text";
      case "escape":
        if (byte >= 0x20 && byte < 0x30) return "intermediate";
        return INTRODUCERS.get(byte) ?? (byte < 0x20 ? "escape" : "text");
      case "intermediate":
        return byte < 0x30 ? "intermediate" : "text";
      case "csi":
        return byte < 0x40 ? "csi" : "text";
      case "osc":
        return byte === BEL ? "text" : byte === ESC ? "osc-escape" : "osc";
      case "string":
        return byte === ESC ? "string-escape" : "string";
      case "osc-escape":
        return byte === 0x5c ? "text" : "osc";
      case "string-escape":
        return byte === 0x5c ? "text" : "string";
    }
  }
}
