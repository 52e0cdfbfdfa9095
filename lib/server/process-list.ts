// The result of `process/list`: a page if the client asked for pages, otherwise all processes. It always fits into one frame.
import type { Methods, ProcessInfo } from "../../protocol/index.ts";
import { fitInfo, infoBytes } from "../process/process-info.ts";

type List = Methods["process/list"]["result"];

/** Bytes of a reply around the processes, including the position of the next page. */
const ENVELOPE_BYTES = 512;

/**
 * The page that follows `after`. A position is the start time and incarnation of the last listed process. If that process was
 * removed meanwhile, the page begins with all processes of that start time, so none is missing and some may be listed twice.
 */
export function pageOf(
  processes: readonly ProcessInfo[],
  { limit, after }: { readonly limit: number; readonly after?: string | undefined },
  maxBytes: number,
): List {
  const first = after === undefined ? 0 : indexAfter(processes, after);
  const page: ProcessInfo[] = [];
  let bytes = ENVELOPE_BYTES;
  for (let index = first; index < processes.length; index += 1) {
    const info = fitInfo(processes[index] as ProcessInfo, maxBytes - ENVELOPE_BYTES);
    bytes += infoBytes(info);
    const last = page.at(-1);
    if (last && (page.length >= limit || bytes > maxBytes)) {
      return { processes: page, next: `${last.startedAt}:${last.incarnation}` };
    }
    page.push(info);
  }
  return { processes: page };
}

/** All processes, for clients without paging. To fit, arguments are shortened first; then the oldest processes are left out. */
export function wholeList(processes: readonly ProcessInfo[], maxBytes: number): List {
  const room = maxBytes - ENVELOPE_BYTES;
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

function indexAfter(processes: readonly ProcessInfo[], after: string): number {
  const [startedAt, incarnation] = split(after);
  const last = processes.findIndex((info) => info.incarnation === incarnation);
  if (last >= 0) return last + 1;
  const later = processes.findIndex((info) => info.startedAt >= startedAt);
  return later < 0 ? processes.length : later;
}

function split(position: string): [startedAt: number, incarnation: string] {
  const colon = position.indexOf(":");
  return [Number(position.slice(0, colon)), position.slice(colon + 1)];
}
