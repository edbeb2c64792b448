// Entry point of the executable: runs an engine process, or else the command line program.

import { copyOfEnvironment, keepLoopbackFromProxies, setProductionDefault } from "./config/environment.ts";

/** Milliseconds for writing the last line of a command. */
const LAST_WORDS_MS = 1000;

const given = copyOfEnvironment();
// Must run before any module that reads NODE_ENV is loaded; for this reason the other modules are imported dynamically.
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
  // What a command has left running, such as a request to an upstream that does not answer, must not keep the program.
  setTimeout(() => process.exit(), LAST_WORDS_MS).unref();
}
