/** The code of a failed system call, connection or library, such as `ENOENT`; undefined for errors without one. */
export const systemErrorCode = (error: unknown): string | undefined =>
  error instanceof Error && "code" in error && typeof error.code === "string" ? error.code : undefined;
