// Standard output at the pace of who reads it.

/** Resolves when it was taken; with false when nobody reads any more (`| head`). Throws what the system throws. */
export function writeOut(content: string | Uint8Array): Promise<boolean> {
  const { stdout } = process;
  // Failures are told to the call.
  if (stdout.listenerCount("error") === 0) stdout.on("error", () => {});
  const { promise, resolve, reject } = Promise.withResolvers<boolean>();
  stdout.write(content, (error) => {
    if (!error) return resolve(true);
    return "code" in error && error.code === "EPIPE" ? resolve(false) : reject(error);
  });
  return promise;
}
