// A program on Node, as a user writes it.
import {
  type Backend,
  type Clock,
  codexDialect,
  connect,
  connectCodex,
  createSupervisor,
  type ExecResult,
  type ExecwireServer,
  execText,
  lines,
  openExecSessions,
  type RunResult,
  run,
  type SandboxPolicy,
  type Supervisor,
  type SupervisorOptions,
  serve,
} from "execwire";
import { decode, encode, type ServerMessage } from "execwire/protocol";

const options: SupervisorOptions = { spawner: "auto", onSupervisorDeath: "kill", limits: { graceMs: 1 } };
const supervisor: Supervisor = createSupervisor(options);
const sandbox: SandboxPolicy = { files: [{ path: { named: "root" }, access: "read" }] };
const process = await supervisor.start({ argv: ["true"], sandbox });
lines(process).subscribe(({ stream }) => console.log(stream));
const result: RunResult = await run(supervisor, { argv: ["ls"] }, { timeoutMs: null });
console.log(result.stdout.text);
const server: ExecwireServer = await serve(supervisor, {
  auth: { kind: "token", token: "t" },
  listen: { host: "127.0.0.1", port: 0 },
  dialect: await codexDialect(),
});
const remote: Backend = await connect({ command: ["ssh", "host", "execwire", "serve", "--listen", "stdio"] });
const codex: Backend = await connectCodex("ws://127.0.0.1:1");
const sessions = openExecSessions(remote);
const answer: ExecResult = await sessions.start({ argv: ["ls"] });
console.log(execText(answer), (decode(encode({ type: "ping" })) as ServerMessage).type);
const clock: Clock | undefined = undefined;
console.log(clock, codex, server.url);
await supervisor.close();
