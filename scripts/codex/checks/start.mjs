// The params of process/start: which are accepted, which are refused and how (section 3).
import { refusal } from "../observe.mjs";
import { answered } from "./starting.mjs";

const READ_ONLY = {
  type: "managed",
  file_system: {
    type: "restricted",
    entries: [{ path: { type: "special", value: { kind: "root" } }, access: "read" }],
  },
  network: "restricted",
};

/** A check of a start that is refused with this message. */
const refused = (id, what, change, message) => answered(id, what, change, { code: -32602, message }, refusal);

export const start = [
  answered(
    "reply",
    "the reply has the process id and says that there is no sandbox",
    { processId: "p1" },
    { result: { processId: "p1", sandboxType: "none" } },
    refusal,
  ),
  answered("id-empty", "the process id may be empty", { processId: "" }, "ok"),
  answered("id-long", "the process id may have 5 000 characters", { processId: "x".repeat(5_000) }, "ok"),
  answered(
    "nulls",
    "optional fields may be null",
    {
      arg0: null,
      envPolicy: null,
      sandbox: null,
      managedNetwork: null,
      metadata: null,
      networkProxy: null,
      shellSnapshot: null,
    },
    "ok",
  ),
  answered("tty-null", "tty must not be null", { tty: null }, -32602),
  answered("pipe-stdin-null", "pipeStdin must not be null", { pipeStdin: null }, -32602),
  answered("enforce-null", "enforceManagedNetwork must not be null", { enforceManagedNetwork: null }, -32602),
  answered("no-tty", "tty is required", { tty: undefined }, -32602),
  answered("no-cwd", "cwd is required", { cwd: undefined }, -32602),
  answered("no-argv", "argv is required", { argv: undefined }, -32602),
  answered("no-id", "processId is required", { processId: undefined }, -32602),
  refused("no-env", "the refusal names a missing env", { env: undefined }, "missing field `env`"),
  refused("argv-empty", "an empty argv is refused", { argv: [] }, "argv must not be empty"),
  refused(
    "argv-empty-late",
    "an empty argv is refused after a cwd of another host",
    { argv: [], cwd: "file://host/tmp" },
    "cwd URI `file://host/tmp` is not valid on this exec-server host: 'file://host/tmp' is invalid on 'linux'",
  ),
  answered(
    "argv-empty-sandbox",
    "an empty argv is refused after a sandbox of another system",
    { argv: [], sandbox: { permissions: READ_ONLY, windowsSandboxLevel: "mxc" } },
    "-32602 sandboxUnavailable",
  ),
  answered("argv-string", "argv must be a list", { argv: "/bin/true" }, -32602),
  answered("argv-number", "argv must be a list of strings", { argv: ["/bin/echo", 5] }, -32602),
  answered("env-number", "env must have strings as values", { env: { A: 5 } }, -32602),
  refused("cwd-native", "a native path as cwd is refused", { cwd: "/tmp" }, "invalid URI: relative URL without a base"),
  refused(
    "cwd-http",
    "another scheme than file is refused",
    { cwd: "http://a/b" },
    "unsupported path URI scheme `http`",
  ),
  answered("cwd-foreign", "a cwd on another host is -32602", { cwd: "file://host/tmp" }, -32602),
  answered("cwd-query", "a cwd with a query is -32602", { cwd: "file:///tmp?x" }, -32602),
  answered("cwd-fragment", "a cwd with a fragment is -32602", { cwd: "file:///tmp#x" }, -32602),
  answered("cwd-nul", "a cwd with %00 is -32602", { cwd: "file:///tmp%00" }, -32602),
];
