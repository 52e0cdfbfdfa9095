// What the exec-server says when a file operation fails: -32004 for what is not there, -32600 for what is refused, -32603
// for the rest, and for an error of the operating system the words of its C library with the number.
import { FileRefusal } from "../../files/file-refusal.ts";
import { CODE, CodexError } from "../codex-error.ts";

/** The words for errors of Linux that files bring about. */
const WORDS: Readonly<Record<string, string>> = {
  EACCES: "Permission denied",
  EAGAIN: "Resource temporarily unavailable",
  EBADF: "Bad file descriptor",
  EBUSY: "Resource busy",
  EDQUOT: "Quota exceeded",
  EEXIST: "File exists",
  EFBIG: "File too large",
  EINVAL: "Invalid argument",
  EIO: "I/O error",
  EISDIR: "Is a directory",
  ELOOP: "Symbolic link loop",
  EMFILE: "No file descriptors available",
  EMLINK: "Too many links",
  ENAMETOOLONG: "Filename too long",
  ENFILE: "Too many open files in system",
  ENODEV: "No such device",
  ENOENT: "No such file or directory",
  ENOMEM: "Out of memory",
  ENOSPC: "No space left on device",
  ENOTDIR: "Not a directory",
  ENOTEMPTY: "Directory not empty",
  ENXIO: "No such device or address",
  EOPNOTSUPP: "Not supported",
  EPERM: "Operation not permitted",
  EPIPE: "Broken pipe",
  EROFS: "Read-only file system",
  ESPIPE: "Invalid seek",
  ESTALE: "Stale file handle",
  ETIMEDOUT: "Operation timed out",
  ETXTBSY: "Text file busy",
  EXDEV: "Cross-device link",
};

/** What counts as refused rather than failed. */
const REFUSED = ["EPERM", "EACCES", "EINVAL"];

/** Refusals of one method begin with its name. */
const COPY_REFUSALS: readonly string[] = ["copiesDirectory", "copiesIntoItself", "copiesSpecialFile"];

/** An error of a file operation as this dialect says it; any other error is returned as it is. */
export function toFileError(error: unknown): unknown {
  if (error instanceof FileRefusal) {
    const code = error.reason === "handleUnknown" ? CODE.notFound : CODE.refused;
    return new CodexError(code, COPY_REFUSALS.includes(error.reason) ? `fs/copy ${error.message}` : error.message);
  }
  const words = describeFileError(error);
  if (words === undefined) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return new CodexError(CODE.notFound, words);
  return new CodexError(REFUSED.includes(code ?? "") ? CODE.refused : CODE.failed, words);
}

/** The words for an error of the operating system; undefined for any other. */
export function describeFileError(error: unknown): string | undefined {
  const { code, errno, message } = error as Partial<NodeJS.ErrnoException>;
  if (code === undefined || errno === undefined || message === undefined) return undefined;
  // Node's message is `CODE: description, call 'path'`.
  const description = message.replace(/^\w+: /, "").replace(/,.*$/s, "");
  return `${WORDS[code] ?? description} (os error ${-errno})`;
}
