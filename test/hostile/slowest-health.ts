// The longest that /health takes, measured by a process of its own: who attacks is busy itself.

const PAUSE_MS = 5;

/** Milliseconds that /health took at most until `work` ended. */
export async function slowestHealth(url: string, work: Promise<unknown>): Promise<number> {
  const watch = Bun.spawn([process.execPath, import.meta.path, url], { stdin: "pipe", stdout: "pipe" });
  await work;
  await watch.stdin.end();
  return Number(await watch.stdout.text());
}

if (import.meta.main) {
  let slowest = 0;
  let isOver = false;
  void Bun.stdin.text().then(() => (isOver = true));
  while (!isOver) {
    const started = performance.now();
    await (await fetch(`${process.argv[2]}/health`)).text();
    slowest = Math.max(slowest, performance.now() - started);
    await Bun.sleep(PAUSE_MS);
  }
  console.log(slowest);
}
