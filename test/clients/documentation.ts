// Runs the Python code of README.md and docs/ unchanged with a running server: `documentation.ts SDK PYTHON` runs the
// blocks that import this SDK, with this interpreter.

import { blocksOf, pages } from "../docs/markdown.ts";

const [sdk = "", python = ""] = process.argv.slice(2);
const address = new URL(process.env["SVC_URL"] ?? "").host;
const blocks = pages().flatMap(blocksOf);
const chosen = blocks.filter(({ language, code }) => language === "python" && code.includes(`from ${sdk} import`));

let failed = 0;
for (const { place, code } of chosen) {
  // Calls the functions that pytest would call.
  const calls = [...code.matchAll(/^def (test_\w+)\(\)/gm)].map(([, name]) => `${name}()\nprint("${name}")`);
  const program = [code.replaceAll("127.0.0.1:9999", address), ...calls].join("\n");
  const run = Bun.spawn([python, "-c", program], { stdin: "ignore", stdout: "pipe", stderr: "pipe" });
  const [output, errors, status] = await Promise.all([run.stdout.text(), run.stderr.text(), run.exited]);
  const isRight = status === 0 && output.trim() !== "";
  if (!isRight) failed++;
  console.log(`${isRight ? "ok  " : "FAIL"} ${place}${isRight ? "" : `\n${output}${errors}`}`);
}
console.log(`${chosen.length - failed} passed, ${failed} failed`);
