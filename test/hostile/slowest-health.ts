// The longest response time of /health, measured by a separate process, because the attacker itself is busy.

const PAUSE_MS = 5;

/**
 * Watches /health from the moment this resolves. `end` resolves with the longest response time in milliseconds, or
 * Infinity after a failure.
 */
export async function watchHealth(url: string): Promise<{ end(): Promise<number> }> {
  const watch = Bun.spawn([process.execPath, import.meta.path, url], { stdin: "pipe", stdout: "pipe" });
  const lines = watch.stdout.pipeThrough(new TextDecoderStream()).getReader();
  await lines.read();
  return {
    async end() {
      await watch.stdin.end();
      return Number((await lines.read()).value);
    },
  };
}

async function milliseconds(url: string): Promise<number> {
  const started = performance.now();
  await (await fetch(`${url}/health`)).text();
  return performance.now() - started;
}

async function watch(url: string): Promise<void> {
  await milliseconds(url);
  console.log("watching");
  let slowest = 0;
  let isOver = false;
  void Bun.stdin.text().then(() => (isOver = true));
  while (!isOver) {
    slowest = Math.max(slowest, await milliseconds(url).catch(() => Number.POSITIVE_INFINITY));
    await Bun.sleep(PAUSE_MS);
  }
  console.log(slowest);
}

if (import.meta.main) await watch(process.argv[2] ?? "");
