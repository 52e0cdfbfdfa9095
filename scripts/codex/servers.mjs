// Starts the two servers that the checks compare: `reference`, the exec-server of the native codex binary, and `ours`. Both
// listen on a free port of 127.0.0.1, require a token, and get the same small environment.
import { spawn } from "node:child_process";
import { randomBytes } from "node:crypto";
import { existsSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { within } from "./peer.mjs";

/** The root folder of the project. */
export const root = join(import.meta.dirname, "../..");
/** Our built command line; EXECWIRE_MAIN selects another build. */
export const main = process.env.EXECWIRE_MAIN ?? join(root, "dist/lib/cli/main.js");

/** How to install the Codex exec-server. */
export const howToGetReference =
  "Codex is not installed: npm i --no-save @openai/codex@0.171.0 (or set CODEX_BIN to the native binary)";

/** The path of the native codex binary; undefined if it is not installed. */
export function findReference() {
  if (process.env.CODEX_BIN) return existsSync(process.env.CODEX_BIN) ? process.env.CODEX_BIN : undefined;
  try {
    const manifest = createRequire(join(root, "package.json")).resolve("@openai/codex-linux-x64/package.json");
    return join(manifest, "../vendor/x86_64-unknown-linux-musl/bin/codex");
  } catch {
    return undefined;
  }
}

/** The command of a server that serves one client on its stdin and stdout. */
export function stdioCommand(kind) {
  if (kind === "reference") return [findReference(), "exec-server", "--listen", "stdio"];
  return [process.execPath, main, "serve", "--listen", "stdio"];
}

/** The whole environment of a server; checks of envPolicy rely on these names. */
export function serverEnvironment(home) {
  return {
    PATH: "/usr/local/bin:/usr/bin:/bin",
    HOME: home,
    CODEX_HOME: home,
    XDG_RUNTIME_DIR: home,
    LANG: "C.UTF-8",
    CHECK_PLAIN: "plain",
    CHECK_SECRET_KEY: "secret",
  };
}

/** Starts a server of `kind` ("ours" or "reference") as a target for checks. `exited` resolves with its exit code. */
export async function startServer(kind) {
  // The exec-server finds no helper for its sandbox if its home is below the system's folder for temporary files.
  const home = realpathSync(mkdtempSync(join(existsSync("/var/tmp") ? "/var/tmp" : tmpdir(), "codex-checks-server-")));
  const token = randomBytes(16).toString("hex");
  const tokenFile = join(home, "token");
  writeFileSync(tokenFile, `${token}\n`, { mode: 0o600 });
  const listen = ["--listen", "ws://127.0.0.1:0"];
  const [program, ...args] =
    kind === "reference"
      ? [findReference(), "exec-server", ...listen, "--ws-auth", "capability-token", "--ws-token-file", tokenFile]
      : [process.execPath, main, "serve", ...listen, "--token-file", tokenFile];
  const child = spawn(program, args, { cwd: home, env: serverEnvironment(home), stdio: ["ignore", "pipe", "pipe"] });
  let log = "";
  child.stderr.on("data", (data) => {
    log += data;
  });
  const exited = new Promise((resolve) => child.on("exit", (code, signal) => resolve(code ?? signal)));
  const hasEnded = () => child.exitCode !== null || child.signalCode !== null;
  // If this program exits without stopping the server, kill it.
  const kill = () => child.kill("SIGKILL");
  const onExit = () => {
    kill();
    rmSync(home, { recursive: true, force: true });
  };
  process.once("exit", onExit);
  const stop = async () => {
    process.off("exit", onExit);
    child.kill("SIGTERM");
    const killTimer = setTimeout(kill, 5_000);
    await exited;
    clearTimeout(killTimer);
    rmSync(home, { recursive: true, force: true });
  };
  const line = new Promise((resolve, reject) => {
    let text = "";
    child.stdout.on("data", (data) => {
      text += data;
      if (text.includes("\n")) resolve(text.split("\n")[0]);
    });
    child.on("error", reject);
    exited.then((code) => reject(new Error(`the server ended with ${code} before it printed its URL:\n${log}`)));
  });
  try {
    const url = await within(20_000, "URL", line);
    const signal = (name) => child.kill(name);
    return { kind, url, token, pid: child.pid, home, exited, hasEnded, log: () => log, signal, stop };
  } catch (error) {
    await stop();
    throw error;
  }
}

/** Makes signals run the exit handlers, which kill the servers. */
export function exitOnSignals() {
  for (const [name, code] of [
    ["SIGINT", 130],
    ["SIGTERM", 143],
  ])
    process.once(name, () => process.exit(code));
}
