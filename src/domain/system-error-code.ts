/** Returns the code of a failed system call, connection or library, such as `ENOENT`; undefined without a code. */
export const systemErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;

const FORBIDDEN = "there is no permission";

const REASONS: Readonly<Record<string, string>> = {
  ENOENT: "there is no such file or folder",
  ENOTDIR: "a folder of its path is a file",
  EEXIST: "there is a file of this name",
  EACCES: FORBIDDEN,
  EPERM: FORBIDDEN,
  EISDIR: "it is a folder",
  ENAMETOOLONG: "the name is too long",
  ENOSPC: "the disk is full",
  EDQUOT: "your disk quota is used up",
  EFBIG: "the file is too large for this disk or a limit of the system",
  EROFS: "the disk is read-only",
};

/** Returns why a file could not be read or written, as a clause; for rare codes, the code itself. */
export function fileReason(error: unknown): string {
  const code = systemErrorCode(error) ?? "unknown";
  return REASONS[code] ?? code;
}
