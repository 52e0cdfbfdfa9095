// Types of prerequisites.mjs, for the specs.

/** The path of the native codex binary; undefined when it is not there. */
export function findReference(): string | undefined;

/** The path of chromium; undefined when it is not there. */
export const chromiumPath: string | undefined;

/** What of this is not installed. */
export function lacking(...programs: readonly string[]): string[];

/** The command that runs a program as PID 1; undefined where the system allows none. */
export function findNamespace(): readonly [string, ...string[]] | undefined;
