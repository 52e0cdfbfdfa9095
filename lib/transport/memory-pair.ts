// Both ends of a connection in one program: for specs, and for a server embedded in its only client.
import type { Transport, TransportHandlers } from "./transport.ts";

/** A connected pair. Frames are delivered in order, each in a microtask of its own. */
export function memoryPair(): [Transport, Transport] {
  const left = new MemoryTransport();
  const right = new MemoryTransport();
  left.connect(right);
  right.connect(left);
  return [left, right];
}

class MemoryTransport implements Transport {
  #peer: MemoryTransport | undefined;
  #handlers: TransportHandlers | undefined;
  readonly #waiting: (() => void)[] = [];
  #closed = false;

  connect(peer: MemoryTransport): void {
    this.#peer = peer;
  }

  listen(handlers: TransportHandlers): void {
    this.#handlers = handlers;
    for (const deliver of this.#waiting.splice(0)) deliver();
  }

  send(frame: Uint8Array, sent?: () => void): void {
    const copy = Uint8Array.from(frame);
    queueMicrotask(() => {
      if (!this.#closed) this.#peer?.receive(copy);
      sent?.();
    });
  }

  close(code: number, reason: string): void {
    queueMicrotask(() => {
      this.end(code, reason);
      this.#peer?.end(code, reason);
    });
  }

  terminate(): void {
    this.close(1006, "");
  }

  receive(frame: Uint8Array): void {
    this.#deliver(() => {
      if (!this.#closed) this.#handlers?.frame(frame);
    });
  }

  end(code: number, reason: string): void {
    this.#deliver(() => {
      if (this.#closed) return;
      this.#closed = true;
      this.#handlers?.closed(code, reason);
    });
  }

  #deliver(step: () => void): void {
    if (this.#handlers) step();
    else this.#waiting.push(step);
  }
}
