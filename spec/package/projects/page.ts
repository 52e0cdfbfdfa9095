// A page, as a user writes it: types of everything that a page gets and passes.

import type {
  Delivery,
  ExitedEvent,
  GapNotice,
  Line,
  LinkState,
  OutputEvent,
  ProcessInfo,
  ProcessSpec,
  ReadResult,
  StartOptions,
  TextOptions,
} from "execwire/browser";
import { connect, ExecwireError, lines, type Process, type RemoteBackend, text } from "execwire/browser";
import { fromEvent, map, type Observable } from "rxjs";

const backend: RemoteBackend = await connect("ws://127.0.0.1:7300", { token: "t", limits: { recoveryMs: 1000 } });
const spec: ProcessSpec = { argv: ["make"], tty: { rows: 40 }, sandbox: { files: [], network: "none" } };
const options: StartOptions = {};
const process: Process = await backend.start(spec, options);
const output$: Observable<OutputEvent | GapNotice> = process.output$;
const replaced: TextOptions = { onGap: "skip", afterSeq: 3 };
lines(process).subscribe(({ text: line, seq, isCut, gap }: Line) => {
  document.title = `${seq} ${line} ${isCut ?? false} ${gap?.bytes ?? 0}`;
});
text(process, replaced).subscribe();
output$.subscribe();
process.exit$.subscribe((exit: ExitedEvent) => console.log(exit.exitCode));
backend.changes$.pipe(map((info: ProcessInfo) => info.state)).subscribe();
backend.link.state$.subscribe((state: LinkState) => console.log(state));
fromEvent<KeyboardEvent>(document, "keydown").subscribe(({ key }) => void process.write(key));
for await (const event of process.iterate({ delivery: "gap" })) console.log((event satisfies Delivery).type);
const result: ReadResult = await process.read({ signal: AbortSignal.timeout(1000) });
if (result.closed) await backend.close();
const code = (error: unknown) => (error instanceof ExecwireError ? error.code : "UNKNOWN");
console.log(code(undefined));
await using scoped = await backend.attach("id");
console.log(scoped.info.pid);
