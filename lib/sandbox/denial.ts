// Guesses whether a command failed because of its sandbox, from its exit code and output: there is no other sign, and most
// programs print why they failed. The guess can be wrong both ways, so it is only a hint beside the outcome.

/** Messages of denials, in lower case. */
const WORDS = [
  "operation not permitted",
  "permission denied",
  "read-only file system",
  "seccomp",
  "sandbox",
  "landlock",
  "failed to write file",
] as const;

/** A seccomp filter kills with SIGSYS: 128 + 31. */
const SIGSYS_EXIT_CODE = 159;

/** What the guess is based on. */
export interface DenialFacts {
  /** The sandbox in force; `none` denies nothing. */
  readonly sandbox: string;
  readonly exitCode: number | null;
  /** Its output. */
  readonly texts: readonly string[];
}

/** Whether the sandbox is the likely cause of a failure. */
export function looksSandboxDenied({ sandbox, exitCode, texts }: DenialFacts): boolean {
  if (sandbox === "none" || exitCode === 0) return false;
  // Other codes, such as 2, 126 and 127 of shells, have other meanings, unless the output has one of the words.
  return exitCode === SIGSYS_EXIT_CODE || texts.some(hasWord);
}

function hasWord(text: string): boolean {
  const lower = text.toLowerCase();
  return WORDS.some((word) => lower.includes(word));
}
