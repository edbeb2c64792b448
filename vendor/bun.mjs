// Makes `bun` runnable where npm was told not to run install scripts: npm scripts call this first.
// The npm package `bun` links its platform binary in such a script; this runs the same script when that did not happen.
import { spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const packageDir = fileURLToPath(new URL("../node_modules/bun/", import.meta.url));
const works = () => spawnSync(packageDir + "bin/bun.exe", ["--version"], { stdio: "ignore" }).status === 0;

if (!works()) {
  spawnSync(process.execPath, ["install.js"], { cwd: packageDir, stdio: "inherit" });
  if (!works()) {
    console.error("svc: the npm package `bun` has no working binary for this machine. Run `npm ci` first.");
    process.exit(1);
  }
}
