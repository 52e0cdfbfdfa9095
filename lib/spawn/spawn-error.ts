// Finds out why a program could not be started. The operating system reports "No such file or directory" for a missing program,
// a missing directory and a missing interpreter alike; here the file system is checked to name the one that is missing.
import { constants } from "node:fs";
import { access, open, stat } from "node:fs/promises";
import { resolve } from "node:path";
import { getSystemErrorMap } from "node:util";
import type { SpawnFailureKind } from "../../protocol/index.ts";
import { ExecwireError } from "../errors.ts";
import { toPath } from "./byte-strings.ts";
import type { Launch } from "./child.ts";

/** Builds a SPAWN_FAILED error. */
export function spawnFailed(kind: SpawnFailureKind, message: string, path: string, cause?: unknown): ExecwireError {
  return new ExecwireError("SPAWN_FAILED", message, { data: { kind, path }, cause });
}

/** The error for a spawn that failed with `cause`; checks the files that the launch names to find the reason. */
export async function explainFailure(launch: Launch, cause: NodeJS.ErrnoException): Promise<ExecwireError> {
  const found = await checkLaunch(launch);
  if (found) return found;
  const file = pathOf(launch);
  const reason = `cannot start ${file}: ${describeErrno(cause)}`;
  switch (cause.code) {
    case "ENOENT":
      return spawnFailed("interpreter-not-found", `${file} needs ${await interpreterOf(file)}`, file, cause);
    case "ENOEXEC":
      return spawnFailed("bad-format", `${file} has no executable format of this system and no #! line`, file, cause);
    case "E2BIG":
      return spawnFailed(
        "arg-too-long",
        `arguments and environment of ${file} are too large together; use stdin or a file`,
        file,
        cause,
      );
    case "EMFILE":
    case "ENFILE":
    case "EAGAIN":
    case "ENOMEM":
      return spawnFailed("resource-exhausted", reason, file, cause);
    case "EACCES":
      return spawnFailed("not-executable", reason, file, cause);
    default:
      return spawnFailed("failed", reason, file, cause);
  }
}

/** Checks a launch before its spawn; returns the first problem found, or undefined. */
export async function checkLaunch({ cwd, file }: Launch): Promise<ExecwireError | undefined> {
  return (cwd === undefined ? undefined : await checkDirectory(cwd)) ?? checkProgram(pathOf({ cwd, file }));
}

/** The path of the program from our directory. */
function pathOf({ cwd, file }: Pick<Launch, "cwd" | "file">): string {
  return cwd === undefined ? file : resolve(cwd, file);
}

/** The problem of a working directory; undefined if it can be entered. */
export async function checkDirectory(cwd: string): Promise<ExecwireError | undefined> {
  // Not `instanceof Error`: under jest or vm, Node's errors come from another realm.
  const directory = await stat(toPath(cwd)).catch((error: NodeJS.ErrnoException) => error);
  if (!("isDirectory" in directory)) {
    if (directory.code === "ENOENT")
      return spawnFailed("cwd-not-found", `working directory ${cwd} does not exist`, cwd);
    if (directory.code === "ENOTDIR")
      return spawnFailed("cwd-not-directory", `working directory ${cwd} is below a file`, cwd);
    return spawnFailed(
      "cwd-not-accessible",
      `working directory ${cwd} cannot be entered: ${describeErrno(directory)}`,
      cwd,
    );
  }
  if (!directory.isDirectory())
    return spawnFailed("cwd-not-directory", `working directory ${cwd} is not a directory`, cwd);
  if (!(await may(cwd, constants.X_OK)))
    return spawnFailed("cwd-not-accessible", `working directory ${cwd} may not be entered`, cwd);
  return undefined;
}

async function checkProgram(file: string): Promise<ExecwireError | undefined> {
  const program = await stat(toPath(file)).catch((error: NodeJS.ErrnoException) => error);
  if (!("isDirectory" in program))
    return spawnFailed("not-found", `program ${file} does not exist (${describeErrno(program)})`, file);
  if (program.isDirectory()) return spawnFailed("is-directory", `${file} is a directory, not a program`, file);
  if (!(await may(file, constants.X_OK)))
    return spawnFailed("not-executable", `${file} is not executable; chmod +x it, or name its interpreter`, file);
  return undefined;
}

/** Throws for the first argument or variable longer than `argBytes` with its NUL. Its value, perhaps a secret, is not shown. */
export function checkLengths(
  file: string,
  argv: readonly string[],
  env: Readonly<Record<string, string>>,
  argBytes: number,
): void {
  // UTF-8 has at most three bytes per UTF-16 unit, so short texts need not be encoded.
  const isTooLong = (text: string) => text.length * 3 >= argBytes && Buffer.byteLength(text) >= argBytes;
  const refuse = (what: string, text: string): never => {
    const message = `${what} has ${Buffer.byteLength(text)} bytes; at most ${argBytes - 1} are allowed; use stdin or a file`;
    throw spawnFailed("arg-too-long", message, file);
  };
  const index = argv.findIndex(isTooLong);
  if (index >= 0) refuse(`argument ${index}`, argv[index] as string);
  const variable = Object.entries(env).find(([name, value]) => isTooLong(`${name}=${value}`));
  if (variable) refuse(`variable ${variable[0]}`, variable.join("="));
}

async function may(path: string, mode: number): Promise<boolean> {
  return access(toPath(path), mode).then(
    () => true,
    () => false,
  );
}

/** Describes the missing interpreter that a script or a dynamically linked program needs. */
async function interpreterOf(file: string): Promise<string> {
  const handle = await open(toPath(file), "r").catch(() => undefined);
  if (!handle) return "an interpreter, which does not exist";
  try {
    const head = Buffer.alloc(256);
    const { bytesRead } = await handle.read(head, 0, head.length, 0);
    const line = head.toString("latin1", 0, bytesRead).split("\n")[0] ?? "";
    if (!line.startsWith("#!")) return "a dynamic loader, which does not exist";
    const [interpreter = ""] = line.slice(2).trim().split(/\s/);
    // The kernel takes everything up to the line feed or the first blank.
    const isWindowsLine = line.endsWith(`${interpreter}\r`);
    return isWindowsLine
      ? `the interpreter "${interpreter}\\r": its lines end as on Windows; remove the carriage returns, with sed -i 's/\\r$//'`
      : `the interpreter ${interpreter}, which does not exist`;
  } finally {
    await handle.close();
  }
}

function describeErrno(error: NodeJS.ErrnoException): string {
  const errno = error.errno === undefined ? undefined : getSystemErrorMap().get(-Math.abs(error.errno));
  return errno ? `${errno[0]}, ${errno[1]}` : (error.code ?? error.message);
}
