// Our terminal as the screen of a process: removes questions that are no longer the process's, and remembers what to restore.
import type { Delivery, Seq } from "../../../protocol/index.ts";
import { ControlSequences } from "./control-sequences.ts";
import { ScreenModes } from "./screen-modes.ts";
import { isQuery } from "./terminal-queries.ts";

/** Follows the output of one process that is written to a terminal. */
export class Screen {
  readonly #replayEnd: Seq;
  readonly #modes = new ScreenModes();
  /** stdout and stderr may each end in the middle of a sequence. */
  readonly #sequences = new Map<string, ControlSequences>();

  /** Up to `replayEnd`, output is a replay: the process no longer waits for the terminal's answers. */
  constructor(replayEnd: Seq) {
    this.#replayEnd = replayEnd;
  }

  /** Returns the event as it is to be shown. */
  show(event: Delivery): Delivery {
    if (event.type !== "output") return event;
    const sequences = this.#sequences.get(event.stream) ?? new ControlSequences();
    this.#sequences.set(event.stream, sequences);
    const isReplay = event.seq <= this.#replayEnd;
    const chunk = sequences.filter(event.chunk, (sequence) => {
      this.#modes.note(sequence);
      return !(isReplay && isQuery(sequence));
    });
    return { ...event, chunk };
  }

  /** Returns the sequences that restore the terminal, once. */
  end(): string {
    return this.#modes.end();
  }
}
