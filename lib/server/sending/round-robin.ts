// Round-robin service of readers that share one connection. The next round starts after the reader that used up the room;
// otherwise a few processes with endless output would starve the others on a slow connection.

/** Remembers where the last round stopped. */
export class RoundRobin {
  #last = -1;

  /** Serves each member while there is room, starting after the member at which the last round ran out of room. */
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
