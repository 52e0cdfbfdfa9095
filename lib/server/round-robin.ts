// Serves many who share one connection: whoever was served when the room was used up does not come first the next time, or
// a few that print without end would leave nothing to the others on a slow line.

/** The order of service; remembers where it stopped. */
export class RoundRobin {
  #last = -1;

  /** Serves each, beginning after the one at which the room was used up. */
  serve<T>(members: Iterable<T>, serve: (member: T) => void, hasRoom: () => boolean): void {
    const all = [...members];
    for (let count = 1; count <= all.length; count += 1) {
      const index = (this.#last + count) % all.length;
      serve(all[index] as T);
      if (hasRoom()) continue;
      this.#last = index;
      return;
    }
  }
}
