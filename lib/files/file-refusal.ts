// Refusals by the operations of this folder. Errors of the operating system pass unchanged as Node's own, with `code` and
// `errno`.

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

/** An operation that this folder refused or gave up, without an error of the operating system. */
export class FileRefusal extends Error {
  readonly reason: FileRefusalReason;

  constructor(reason: FileRefusalReason, message: string) {
    super(message);
    this.name = "FileRefusal";
    this.reason = reason;
  }
}

/** The refusal of a path that is not a regular file. */
export function notAFile(path: Buffer): FileRefusal {
  return new FileRefusal("notAFile", `path \`${path}\` is not a file`);
}

/** Whether an error has one of these codes, such as `ENOENT`. */
export function isErrno(error: unknown, ...codes: readonly string[]): boolean {
  return codes.includes((error as NodeJS.ErrnoException | undefined)?.code ?? "");
}
