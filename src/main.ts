// Entry point of the one executable: decides between engine process, one-shot answer and server.

import { keepLoopbackFromProxies, setProductionDefault } from "./config/environment.ts";

// Before anything that reads NODE_ENV is loaded; that is also why the rest is imported dynamically.
setProductionDefault();
keepLoopbackFromProxies();

const [first, second] = process.argv.slice(2);
if (first === "__engine" && second === "llama") {
  const { runEngine } = await import("./engine/text/child/main.ts");
  await runEngine();
} else if (first === "__engine" && second === "embedding") {
  const { runEmbedder } = await import("./engine/embedding/child/main.ts");
  await runEmbedder();
} else {
  const { main } = await import("./cli/main.ts");
  process.exitCode = await main(process.argv.slice(2));
}
