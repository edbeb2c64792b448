// Entry point of the one executable: decides between engine process, one-shot answer and server.

import { copyOfEnvironment, keepLoopbackFromProxies, setProductionDefault } from "./config/environment.ts";

const given = copyOfEnvironment();
// Before anything that reads NODE_ENV is loaded; that is also why the rest is imported dynamically.
setProductionDefault();
keepLoopbackFromProxies();

const [first, second = ""] = process.argv.slice(2);
if (first === "__engine") {
  const { kinds } = await import("./engine/kinds.ts");
  const run = kinds[second];
  if (!run) throw new Error(`there is no engine of kind ${second}`);
  await run();
} else {
  const { main } = await import("./cli/main.ts");
  process.exitCode = await main(process.argv.slice(2), given);
}
