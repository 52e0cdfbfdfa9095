// Types of prerequisites.mjs, for the specs.

/** The path of the native codex binary; undefined if it is not installed. */
export function findReference(): string | undefined;

/** The path of Chromium; undefined if it is not installed. */
export const chromiumPath: string | undefined;

/** Those of the programs that are not installed. */
export function lacking(...programs: readonly string[]): string[];

/** The command that runs a program as PID 1; undefined if the system does not allow it. */
export function findNamespace(): readonly [string, ...string[]] | undefined;

/** The command that runs a program as an unprivileged user, who can read `folder`. */
export function unprivileged(folder: string): readonly string[] | undefined;
export function sandboxMissing(): string | undefined;
