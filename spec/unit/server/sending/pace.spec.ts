// How far a connection runs ahead, on links of different rates: a model of a link that carries bytes in order, one after another.
import { expect, it } from "@jest/globals";
import { Pace } from "../../../../lib/server/sending/pace.ts";
import { FakeClock } from "../../../support/fake-clock.ts";

const CHUNK = 8192;

/** A sender that always has more to send, and a link with a rate in bytes per second and a delay. */
class Flood {
  readonly clock = new FakeClock();
  readonly pace = new Pace({
    clock: this.clock,
    ping: () => {
      this.#pings += 1;
      const id = this.#pings;
      this.#send(0, () => this.clock.after(this.#delayMs, () => this.#onPong(id)));
      return id;
    },
    onRoom: () => this.pump(),
  });
  answers = true;
  /** Bytes sent that have not arrived. */
  ahead = 0;
  #rate: number;
  readonly #delayMs: number;
  /** When the link will have carried everything. */
  #freeAt = 0;
  #maxAhead = 0;
  #pings = 0;

  constructor(rate: number, delayMs: number) {
    this.#rate = rate;
    this.#delayMs = delayMs;
  }

  set rate(rate: number) {
    this.#rate = rate;
  }

  pump(): void {
    while (this.pace.hasRoom && this.ahead < 4_000_000) {
      this.#send(CHUNK, () => undefined);
      this.pace.sent(CHUNK);
    }
  }

  /** Passes time; returns the most that was ahead meanwhile. */
  pass(ms: number): number {
    this.#maxAhead = this.ahead;
    for (let at = 0; at < ms; at += 10) {
      this.pump();
      this.clock.advance(10);
    }
    return this.#maxAhead;
  }

  #send(bytes: number, arrived: () => void): void {
    this.ahead += bytes;
    this.#maxAhead = Math.max(this.#maxAhead, this.ahead);
    this.#freeAt = Math.max(this.#freeAt, this.clock.now()) + (bytes / this.#rate) * 1000;
    this.clock.after(this.#freeAt - this.clock.now() + this.#delayMs, () => {
      this.ahead -= bytes;
      arrived();
    });
  }

  #onPong(id: number): void {
    if (!this.answers) return;
    this.pace.answered(id);
    this.pump();
  }
}

it.each([
  [20_000, 20, 32_768],
  [100_000, 20, 65_536],
  [1_000_000, 50, 400_000],
])("at %i B/s with %i ms of delay, at most %i bytes are ahead, and the link is never idle", (rate, delay, most) => {
  const flood = new Flood(rate, delay);
  flood.pass(10_000);
  expect(flood.pass(10_000)).toBeLessThanOrEqual(most);
  // Another second in small steps: something is always on its way.
  for (let step = 0; step < 100; step += 1) {
    flood.pass(10);
    expect(flood.ahead).toBeGreaterThan(0);
  }
});

it("a fast link is filled within a few answers", () => {
  const flood = new Flood(1_000_000_000, 1);
  flood.pass(100);
  expect(flood.pass(100)).toBeGreaterThan(2_000_000);
});

it("a link that becomes slow is followed, and one that recovers too", () => {
  const flood = new Flood(100_000_000, 5);
  flood.pass(1_000);
  flood.rate = 50_000;
  flood.pass(120_000);
  expect(flood.pass(5_000)).toBeLessThanOrEqual(65_536);
  flood.rate = 100_000_000;
  flood.pass(3_000);
  expect(flood.pass(100)).toBeGreaterThan(1_000_000);
});

it("a peer that answers no probe is sent everything after a while", () => {
  const flood = new Flood(1_000_000_000, 1);
  flood.answers = false;
  expect(flood.pass(4_000)).toBeLessThanOrEqual(65_536 + CHUNK);
  expect(flood.pass(2_000)).toBeGreaterThan(65_536 + CHUNK);
});

it("nothing is pending after the end", () => {
  const flood = new Flood(1_000, 1);
  flood.answers = false;
  flood.pass(100);
  flood.pace.end();
  const { ahead } = flood;
  flood.clock.advance(1);
  expect(flood.pace.hasRoom).toBe(false);
  expect(ahead).toBeGreaterThan(0);
});
