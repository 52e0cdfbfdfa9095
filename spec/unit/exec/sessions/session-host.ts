// Exec sessions with fake children and a clock that only the spec advances.

import type { ExecResult, ExecStart } from "../../../../lib/exec/sessions/session-types.ts";
import {
  type ExecSessions,
  type ExecSessionsOptions,
  openExecSessions,
} from "../../../../lib/exec/sessions/sessions.ts";
import type { StreamName } from "../../../../protocol/index.ts";
import type { FakeChild } from "../../../support/fake-child.ts";
import { FakeHost } from "../../../support/fake-supervisor.ts";
import { nextTurn } from "../../../support/next-turn.ts";

/** A call, and its answer, if there is one already. */
export interface Call {
  readonly answer: Promise<ExecResult>;
  readonly isAnswered: boolean;
}

/** Prints bytes that need not be text; the fake child accepts everything that a Buffer can be made from. */
export function printBytes(child: FakeChild, bytes: Uint8Array, stream?: StreamName): void {
  child.output(bytes as unknown as string, stream);
}

/** Sessions of fake children. */
export class SessionHost extends FakeHost {
  readonly sessions: ExecSessions;

  constructor(options: Omit<ExecSessionsOptions, "clock"> = {}, host: ConstructorParameters<typeof FakeHost>[0] = {}) {
    super(host);
    this.sessions = openExecSessions(this.supervisor, { ...options, clock: this.clock });
  }

  /** The last child that was started. */
  get child(): FakeChild {
    return this.spawner.children.at(-1) as FakeChild;
  }

  /** Makes a call and lets it proceed as far as it can without time passing. */
  async call(calling: Promise<ExecResult>): Promise<Call> {
    let isAnswered = false;
    const settle = () => {
      isAnswered = true;
    };
    calling.then(settle, settle);
    await nextTurn();
    return {
      answer: calling,
      get isAnswered() {
        return isAnswered;
      },
    };
  }

  /** Starts a process and lets it run until `start` has answered; it has a terminal by default. */
  async running(spec: Partial<ExecStart> = {}): Promise<{ id: number; child: FakeChild; first: ExecResult }> {
    const { answer } = await this.call(this.sessions.start({ argv: ["/fake/program"], tty: true, ...spec }));
    const { child } = this;
    await this.pass(30_000);
    const first = await answer;
    return { id: first.sessionId as number, child, first };
  }

  /** Advances the clock, and runs everything that is due. */
  async pass(ms: number): Promise<void> {
    this.clock.advance(ms);
    await nextTurn();
  }
}
