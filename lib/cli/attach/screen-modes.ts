// What a program has set in the terminal and not ended itself. Only this is ended when we leave: a blind reset would move the cursor,
// or end what the user's own shell has set.

import { bodyOf } from "./control-sequences.ts";

/** On by default; a program may turn them off. DEC private modes begin with `?`. */
const ON_BY_DEFAULT = new Set(["?7", "?8", "?25", "12"]);
/** Not modes but actions (saving the cursor), or preferences of the user without a common default (a blinking cursor). */
const IGNORED = new Set(["?1048", "?3", "?12", "?13", "?14", "?40", "?1007", "?1034", "?1035", "?1036", "?1039", "34"]);
const ALTERNATE_SCREENS = ["?47", "?1047", "?1049"];

/** More would be noise: no terminal has so many modes, and xterm keeps ten titles. */
const MAX_MODES = 128;
const MAX_TITLES = 10;

/** OSC commands that set something, and the sequence that ends it. Colours end with 100 plus their number. */
const OSC_ENDS: readonly (readonly [isSet: RegExp, isEnd: RegExp, end: string])[] = [
  [/^8;[^;]*;./, /^8;[^;]*;$/, "8;;"], // hyperlink
  [/^9;4;[1-4]/, /^9;4;0/, "9;4;0"], // progress
  [/^22;./, /^22;?$/, "22;"], // pointer
  [/^4;/, /^104/, "104"],
  ...[10, 11, 12, 13, 14, 17, 19].map(
    (color) => [new RegExp(`^${color};[^?]`), new RegExp(`^1${color}`), `1${color}`] as const,
  ),
];

/** The keyboard flags of kitty, which each screen has. */
interface Keyboard {
  pushed: number;
  isSet: boolean;
}

/** Follows the sequences of one program. */
export class ScreenModes {
  /** Modes that differ from their default. */
  readonly #modes = new Set<string>();
  /** Resources of `CSI > m` and `CSI > f`, such as modifyOtherKeys, with the sequence that ends them. */
  readonly #keys = new Set<string>();
  readonly #oscs = new Set<string>();
  readonly #charsets = new Set<string>();
  readonly #keyboards: [main: Keyboard, alternate: Keyboard] = [
    { pushed: 0, isSet: false },
    { pushed: 0, isSet: false },
  ];
  #titles = 0;
  #isColored = false;
  #hasRegion = false;
  #hasCursorStyle = false;
  #isShifted = false;
  #isKeypad = false;

  get #keyboard(): Keyboard {
    return this.#keyboards[ALTERNATE_SCREENS.some((mode) => this.#modes.has(mode)) ? 1 : 0];
  }

  /** Takes note of a complete sequence, in latin1. */
  note(sequence: string): void {
    if (sequence === "\x0e" || sequence === "\x0f") this.#isShifted = sequence === "\x0e";
    else if (sequence.startsWith("\x1b[")) this.#noteCsi(bodyOf(sequence));
    else if (sequence.startsWith("\x1b]")) this.#noteOsc(bodyOf(sequence));
    else this.#noteEscape(sequence.slice(1));
  }

  /** Returns the sequences that end what is still set, and forgets it. Empty if there is nothing. */
  end(): string {
    const [main, alternate] = this.#keyboards;
    const screens = ALTERNATE_SCREENS.filter((mode) => this.#modes.delete(mode));
    const restoresCursor = screens.includes("?1049");
    const ends: string[] = [];
    if (this.#modes.delete("?2026")) ends.push("\x1b[?2026l");
    ends.push(...endOf(screens.length > 0 ? alternate : main));
    if (this.#modes.delete("?6")) ends.push("\x1b[?6l");
    // Setting the region moves the cursor, which the end of the screen ?1049 restores itself.
    if (this.#hasRegion) ends.push(restoresCursor ? "\x1b[r" : "\x1b7\x1b[r\x1b8");
    for (const mode of this.#modes) ends.push(setting(mode, ON_BY_DEFAULT.has(mode)));
    ends.push(...this.#keys, ...[...this.#oscs].map((osc) => `\x1b]${osc}\x1b\\`));
    if (this.#isKeypad) ends.push("\x1b>");
    if (this.#isShifted) ends.push("\x0f");
    for (const charset of this.#charsets) ends.push(charset === "%" ? "\x1b%G" : `\x1b${charset}B`);
    if (this.#hasCursorStyle) ends.push("\x1b[0 q");
    for (; this.#titles > 0; this.#titles -= 1) ends.push("\x1b[23t");
    ends.push(...screens.map((mode) => setting(mode, false)));
    if (screens.length > 0) ends.push(...endOf(main));
    if (this.#isColored || screens.length > 0) ends.push("\x1b[0m");
    this.#reset();
    // ESC \ ends a string in whose middle the program stopped.
    return ends.length > 0 ? `\x1b\\${ends.join("")}` : "";
  }

  #noteEscape(body: string): void {
    const [, charset, set] = /^([()*+%])(.+)$/.exec(body) ?? [];
    if (charset !== undefined) {
      if (set === (charset === "%" ? "G" : "B")) this.#charsets.delete(charset);
      else this.#charsets.add(charset);
    }
    if (body === "n" || body === "o") this.#isShifted = true;
    if (body === "=" || body === ">") this.#isKeypad = body === "=";
    if (body === "c") this.#reset();
  }

  #noteCsi(body: string): void {
    // Most sequences are colours or move the cursor; a pattern for each would be most of the work.
    const start = body.charCodeAt(0);
    if (body.endsWith("m") && start < 0x3c) {
      this.#isColored = body !== "0m";
      return;
    }
    if (!/[hlmrqutf]$/.test(body)) return;
    const [, prefix = "", list = "", final = ""] = /^([<=>?]?)([\d;:]*)([ -/]*[@-~])$/.exec(body) ?? [];
    const command = prefix + final;
    const first = Number.parseInt(list, 10) || 0;
    switch (command) {
      case "h":
      case "?h":
      case "l":
      case "?l":
        for (const mode of list.split(";")) this.#noteMode(prefix + mode, command.endsWith("h"));
        break;
      case "m":
        this.#isColored = false;
        break;
      case "r":
        this.#hasRegion = list !== "";
        break;
      case " q":
        this.#hasCursorStyle = first !== 0;
        break;
      case ">u":
        this.#keyboard.pushed += 1;
        break;
      case "<u":
        this.#keyboard.pushed = Math.max(0, this.#keyboard.pushed - Math.max(1, first));
        break;
      case "=u":
        this.#keyboard.isSet = first !== 0;
        break;
      case ">m":
      case ">f":
        if (list.includes(";")) this.#keys.add(`\x1b[>${first}${command.at(-1)}`);
        else this.#keys.delete(`\x1b[>${first}${command.at(-1)}`);
        break;
      case "t":
        if (first === 22) this.#titles = Math.min(MAX_TITLES, this.#titles + 1);
        if (first === 23) this.#titles = Math.max(0, this.#titles - 1);
        break;
    }
  }

  #noteMode(mode: string, isSet: boolean): void {
    if (IGNORED.has(mode) || !/\d/.test(mode)) return;
    if (isSet !== ON_BY_DEFAULT.has(mode)) {
      if (this.#modes.size < MAX_MODES) this.#modes.add(mode);
    } else if (ALTERNATE_SCREENS.includes(mode)) for (const screen of ALTERNATE_SCREENS) this.#modes.delete(screen);
    else this.#modes.delete(mode);
  }

  #noteOsc(body: string): void {
    for (const [isSet, isEnd, end] of OSC_ENDS) {
      if (isSet.test(body)) this.#oscs.add(end);
      else if (isEnd.test(body)) this.#oscs.delete(end);
    }
  }

  #reset(): void {
    for (const set of [this.#modes, this.#keys, this.#oscs, this.#charsets]) set.clear();
    for (const keyboard of this.#keyboards) Object.assign(keyboard, { pushed: 0, isSet: false });
    this.#titles = 0;
    this.#isColored = this.#hasRegion = this.#hasCursorStyle = this.#isShifted = this.#isKeypad = false;
  }
}

function setting(mode: string, isOn: boolean): string {
  return `\x1b[${mode}${isOn ? "h" : "l"}`;
}

function endOf({ pushed, isSet }: Keyboard): string[] {
  return [...(isSet ? ["\x1b[=0u"] : []), ...(pushed > 0 ? [`\x1b[<${pushed}u`] : [])];
}
