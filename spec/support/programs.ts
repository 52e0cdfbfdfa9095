// Command lines of the programs that specs start.
import { fileURLToPath } from "node:url";

/** A shell script. Its positional parameters are `$1`, `$2` ... */
export function sh(script: string, ...args: readonly string[]): string[] {
  return ["/bin/sh", "-c", script, "sh", ...args];
}

/** A bash script, for job control. */
export function bash(script: string, ...args: readonly string[]): string[] {
  return ["/bin/bash", "-c", script, "bash", ...args];
}

/** A program of spec/fixtures, run by this Node. */
export function fixture(name: string, ...args: readonly string[]): string[] {
  return [process.execPath, fileURLToPath(new URL(`../fixtures/${name}`, import.meta.url)), ...args];
}
