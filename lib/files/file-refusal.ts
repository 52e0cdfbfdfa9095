// What the operations of this folder refuse by themselves. What the operating system refuses passes as Node's own error,
// with its `code` and `errno`.

/** Why an operation was refused. */
export type FileRefusalReason =
  | "notAFile"
  | "tooLarge"
  | "symbolicLink"
  | "handleExists"
  | "handleUnknown"
  | "tooManyHandles"
  | "writeRange"
  | "removesRoot"
  | "copiesDirectory"
  | "copiesIntoItself"
  | "copiesSpecialFile";

/** An operation that was not tried, or given up, for a reason of ours. */
export class FileRefusal extends Error {
  readonly reason: FileRefusalReason;

  constructor(reason: FileRefusalReason, message: string) {
    super(message);
    this.name = "FileRefusal";
    this.reason = reason;
  }
}

/** Refuses what is no regular file where one is needed. */
export function notAFile(path: Buffer): FileRefusal {
  return new FileRefusal("notAFile", `path \`${path}\` is not a file`);
}

/** Whether it is the operating system's error of one of these names, such as `ENOENT`. */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}
