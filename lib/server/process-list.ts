// The answer to `process/list`: a page for who asks for pages, else everything in one frame. It always fits into a frame.
import type { Methods, ProcessInfo } from "../../protocol/index.ts";
import { fitInfo, infoBytes } from "../process/process-info.ts";

type List = Methods["process/list"]["result"];

/** What is around the processes in a reply, the place of the next page included. */
const AROUND_BYTES = 512;

/**
 * The page that follows `after`. A place is the incarnation of the last process listed and its time: when that process was removed
 * meanwhile, the page begins with those of the same time, so that none is left out, though some may come twice.
 */
export function pageOf(
  processes: readonly ProcessInfo[],
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
  maxBytes: number,
): List {
  const first = after === undefined ? 0 : placeOf(processes, after);
  const page: ProcessInfo[] = [];
  let bytes = AROUND_BYTES;
  for (let index = first; index < processes.length; index += 1) {
    const info = fitInfo(processes[index] as ProcessInfo, maxBytes - AROUND_BYTES);
    bytes += infoBytes(info);
    const last = page.at(-1);
    if (last && (page.length >= limit || bytes > maxBytes)) {
      return { processes: page, next: `${last.startedAt}:${last.incarnation}` };
    }
    page.push(info);
  }
  return { processes: page };
}

/** Everything, for clients that know no pages: with fewer arguments where there is much to say, and in the end without the oldest. */
export function wholeList(processes: readonly ProcessInfo[], maxBytes: number): List {
  const room = maxBytes - AROUND_BYTES;
  const sizes = processes.map(infoBytes);
  let bytes = sizes.reduce((sum, size) => sum + size, 0);
  if (bytes <= room) return { processes };
  const share = Math.floor(room / processes.length);
  const fitting = processes.map((info, index) => {
    const size = sizes[index] as number;
    const fitted = fitInfo(info, share, size);
    sizes[index] = fitted === info ? size : infoBytes(fitted);
    bytes += (sizes[index] as number) - size;
    return fitted;
  });
  let oldest = 0;
  for (; bytes > room; oldest += 1) bytes -= sizes[oldest] as number;
  return { processes: fitting.slice(oldest) };
}

function placeOf(processes: readonly ProcessInfo[], after: string): number {
  const [startedAt, incarnation] = split(after);
  const last = processes.findIndex((info) => info.incarnation === incarnation);
  if (last >= 0) return last + 1;
  const later = processes.findIndex((info) => info.startedAt >= startedAt);
  return later < 0 ? processes.length : later;
}

function split(place: string): [startedAt: number, incarnation: string] {
  const colon = place.indexOf(":");
  return [Number(place.slice(0, colon)), place.slice(colon + 1)];
}
