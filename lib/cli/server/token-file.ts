// Tokens are stored in files that only their owner can read; never in arguments, which all users of a machine can see, and never
// in output.
import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** Reads a token. Throws when there is none, or when other users can read the file. */
export function readTokenFile(path: string): string {
  const file = openToRead(path);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error(`the token file ${path} is not a regular file`);
    if (process.getuid && stats.mode & 0o077) {
      throw new Error(`the token file ${path} can be read by other users; run: chmod 600 ${path}`);
    }
    const token = readFileSync(file, "utf8").trim();
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new Error(`the token file ${path} holds no token: it must be one word of printable ASCII characters`);
    return token;
  } finally {
    closeSync(file);
  }
}

/** Writes a new random token into a new file, and returns it. Throws when the file exists. */
export function makeTokenFile(path: string): string {
  const token = randomBytes(32).toString("base64url");
  // Exclusive, so that no file or link that another user put there is used.
  writeFileSync(path, `${token}\n`, { mode: 0o600, flag: "wx" });
  return token;
}

/** The token in the file that the user named, which is created if it does not exist. */
export function readOrMakeTokenFile(path: string): string {
  try {
    return makeTokenFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return readTokenFile(path);
    throw new Error(`cannot create the token file ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** Writes a new token into our own file, replacing one left by an earlier process with the same pid. */
export function replaceTokenFile(path: string): string {
  rmSync(path, { force: true });
  return makeTokenFile(path);
}

/** Removes a token file that this program created. */
export function removeTokenFile(path: string): void {
  rmSync(path, { force: true });
}

function openToRead(path: string): number {
  try {
    return openSync(path, "r");
  } catch (error) {
    throw new Error(`cannot read the token file ${path}: ${(error as Error).message}`, { cause: error });
  }
}
