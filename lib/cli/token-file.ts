// Secrets between a server and its clients live in files that only their owner can read; never in arguments, which all
// users of a machine can see, and never in what is printed.
import { randomBytes } from "node:crypto";
import { closeSync, fstatSync, openSync, readFileSync, rmSync, writeFileSync } from "node:fs";

/** Reads a token. Throws when there is none, or when others could have read it too. */
export function readTokenFile(path: string): string {
  const file = openToRead(path);
  try {
    const stats = fstatSync(file);
    if (!stats.isFile()) throw new Error(`the token file ${path} is not a file`);
    if (process.getuid && stats.mode & 0o077) {
      throw new Error(`the token file ${path} can be read by other users; close it: chmod 600 ${path}`);
    }
    const token = readFileSync(file, "utf8").trim();
    if (!/^[\x21-\x7e]+$/.test(token))
      throw new Error(`the token file ${path} holds no token: one word of ASCII letters`);
    return token;
  } finally {
    closeSync(file);
  }
}

/** Writes a new random token into a new file. Throws when the file exists. */
export function makeTokenFile(path: string): string {
  const token = randomBytes(32).toString("base64url");
  // Exclusively, so that no file and no link that somebody else put there is used.
  writeFileSync(path, `${token}\n`, { mode: 0o600, flag: "wx" });
  return token;
}

/** The token in the file that the user named, made if it is not there yet. */
export function readOrMakeTokenFile(path: string): string {
  try {
    return makeTokenFile(path);
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === "EEXIST") return readTokenFile(path);
    throw new Error(`cannot make the token file ${path}: ${(error as Error).message}`, { cause: error });
  }
}

/** A new token in a file of our own; one left by an earlier program of our number is replaced. */
export function replaceTokenFile(path: string): string {
  rmSync(path, { force: true });
  return makeTokenFile(path);
}

/** Removes a file that was made here. */
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
