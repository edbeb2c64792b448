import { expect, test } from "bun:test";
import { whileDownloading } from "../../src/cli/download-command.ts";

test.each(["SIGINT", "SIGTERM"] as const)(
  "%s at the very end of a download keeps what follows from starting",
  async (name) => {
    const download = whileDownloading({
      config: { logFormat: "text", logLevel: "error" },
      onInterrupt: "It continues.",
      work: (_, signal) =>
        new Promise<void>((resolve) => {
          signal.addEventListener("abort", () => resolve());
          process.kill(process.pid, name);
        }),
    });
    await expect(download).rejects.toMatchObject({ reason: "interrupted", message: "Interrupted. It continues." });
  },
);
