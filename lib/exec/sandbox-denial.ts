// Whether a command failed because of its sandbox. A guess by exit code and words: a program that was denied something mostly
// says so, and nothing else tells. Wrong both ways at times, so it is a hint beside the outcome and never the outcome.

/** What denials say, in lower case. */
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

/** What is known of a command that ended. */
export interface DenialFacts {
  /** The sandbox in force; `none` denies nothing. */
  readonly sandbox: string;
  readonly exitCode: number | null;
  /** What it printed. */
  readonly texts: readonly string[];
}

/** Whether the sandbox is the likely cause of a failure. */
export function looksSandboxDenied({ sandbox, exitCode, texts }: DenialFacts): boolean {
  if (sandbox === "none" || exitCode === 0) return false;
  // Other codes, such as 2, 126 and 127 of shells, mean something else, unless the words say it.
  return exitCode === SIGSYS_EXIT_CODE || texts.some(hasWord);
}

function hasWord(text: string): boolean {
  const lower = text.toLowerCase();
  return WORDS.some((word) => lower.includes(word));
}
