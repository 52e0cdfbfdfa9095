// Reconstructs events from the reply to `process/read`. The reply lists only output: exit and end are flags, whose seqs no
// chunk has, and evicted output is silently missing. Missing ranges become gaps.
import type { GapNotice, Seq } from "../../../protocol/index.ts";
import type { RawEvent, ReadReply } from "./answers.ts";
import type { ReorderWindow } from "./reorder-window.ts";

/** An event, or a gap in place of lost ones. */
export type Recovered = RawEvent | GapNotice;

interface Hole {
  readonly firstSeq: Seq;
  readonly lastSeq: Seq;
}

/**
 * Everything between `head` and the end of the reply, with gaps for what is lost. `pushed` holds events that arrived by
 * notification meanwhile.
 *
 * If the exit is not known yet, its seq is one that no chunk has. Output is evicted from the front, so a missing seq between
 * retained chunks is the exit's. Otherwise the exit lies in the evicted range and is placed at its end; the reply does not
 * allow a better answer.
 */
export function recover(reply: ReadReply, head: Seq, exitIsKnown: boolean, pushed: ReorderWindow): Recovered[] {
  const lastSeq = reply.nextSeq - 1;
  const endSeq = reply.closed ? lastSeq - 1 : lastSeq;
  const events = new Map<Seq, Recovered>();
  for (const event of pushed) if (event.seq > head && event.seq <= endSeq) events.set(event.seq, event);
  for (const { seq, stream, chunk } of reply.chunks) {
    if (seq > head && seq <= endSeq) events.set(seq, { type: "output", seq, stream, chunk });
  }
  const holes = findHoles([...events.keys()], head, endSeq);
  const exitSeq = reply.exited && !exitIsKnown && !pushed.has("exited") ? holes.at(-1)?.lastSeq : undefined;
  const { exitCode = null, sandboxDenied } = reply;
  for (const hole of holes) {
    const isExit = hole.lastSeq === exitSeq;
    const lost = { ...hole, lastSeq: isExit ? hole.lastSeq - 1 : hole.lastSeq };
    if (lost.firstSeq <= lost.lastSeq) events.set(lost.firstSeq, { type: "gap", ...lost });
    if (isExit) events.set(hole.lastSeq, { type: "exited", seq: hole.lastSeq, exitCode, sandboxDenied });
  }
  if (reply.closed && lastSeq > head) events.set(lastSeq, { type: "closed", seq: lastSeq });
  return [...events].sort(([one], [other]) => one - other).map(([, event]) => event);
}

function findHoles(seqs: Seq[], head: Seq, endSeq: Seq): Hole[] {
  const holes: Hole[] = [];
  let before = head;
  for (const seq of [...seqs.sort((one, other) => one - other), endSeq + 1]) {
    if (seq > before + 1) holes.push({ firstSeq: before + 1, lastSeq: seq - 1 });
    before = seq;
  }
  return holes;
}
