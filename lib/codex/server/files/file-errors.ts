// File errors as the exec-server reports them: -32004 for a missing file, -32600 for a refusal, -32603 for anything else.
// Errors of the operating system get the message of the exec-server's C library, with the number.
import { FileRefusal } from "../../../files/file-refusal.ts";
import { CODE, CodexError } from "../../codex-error.ts";

/** Messages for the Linux errors that file operations produce. */
const MESSAGES: Readonly<Record<string, string>> = {
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

/** Errors that are refusals rather than failures. */
const REFUSED = ["EPERM", "EACCES", "EINVAL"];

/** Reasons whose message begins with the name of the method. */
const COPY_REFUSALS: readonly string[] = ["copiesDirectory", "copiesIntoItself", "copiesSpecialFile"];

/** Converts an error of a file operation to this dialect; any other error is returned unchanged. */
export function toFileError(error: unknown): unknown {
  if (error instanceof FileRefusal) {
    const code = error.reason === "handleUnknown" ? CODE.notFound : CODE.refused;
    return new CodexError(code, COPY_REFUSALS.includes(error.reason) ? `fs/copy ${error.message}` : error.message);
  }
  const text = describeFileError(error);
  if (text === undefined) return error;
  const { code } = error as NodeJS.ErrnoException;
  if (code === "ENOENT") return new CodexError(CODE.notFound, text);
  return new CodexError(REFUSED.includes(code ?? "") ? CODE.refused : CODE.failed, text);
}

/** The message for an error of the operating system; undefined for any other error. */
export function describeFileError(error: unknown): string | undefined {
  const { code, errno, message } = error as Partial<NodeJS.ErrnoException>;
  if (code === undefined || errno === undefined || message === undefined) return undefined;
  // Node's message is `CODE: description, call 'path'`.
  const description = message.replace(/^\w+: /, "").replace(/,.*$/s, "");
  return `${MESSAGES[code] ?? description} (os error ${-errno})`;
}
