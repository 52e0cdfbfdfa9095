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
/** A death by signal n is 128 + n, also outside of a sandbox; there are 64 signals. */
const SIGNAL_EXIT_CODES = { from: 129, to: 128 + 64 };

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
  // A sandbox sends no other signal, so what the command printed before is not why it ended.
  const isSignal = exitCode !== null && exitCode >= SIGNAL_EXIT_CODES.from && exitCode <= SIGNAL_EXIT_CODES.to;
  if (isSignal) return exitCode === SIGSYS_EXIT_CODE;
  // Other codes, such as 2, 126 and 127 of shells, have other meanings, unless the output has one of the words.
  return texts.some(hasWord);
}

function hasWord(text: string): boolean {
  const lower = text.toLowerCase();
  return WORDS.some((word) => lower.includes(word));
}
