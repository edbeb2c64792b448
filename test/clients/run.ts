// `npm run test:clients`: official SDKs for two languages, in two major versions each, for every API; frameworks
// based on them; LiteLLM; lm-eval (compared with llama-server); Open WebUI's document loader; clients for Go, Rust and
// Java, if their compilers are installed; and, if Chromium is, web pages, svc's own among them; in CI they fail without.
// All are unmodified and use a running svc: from source, or the command after two dashes. Prints one line per check,
// what was skipped, then `N passed, N failed`. Needs npm and Python 3 with venv; installs below vendor/.build, except
// that Go, Cargo and Maven keep packages in their own folders.

import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { launch } from "../bench/server-under-test.ts";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { CHAT_PLANS } from "../parity/servers.ts";
import { pythonWith } from "../support/python.ts";
import { PROGRAM, withServer, type TestServer } from "../support/server.ts";
import { counts, skip, skipped, summary } from "./checks.ts";
import { run, runChecks } from "./scripts.ts";

/** Folders with a package.json, each with one major version of every TypeScript SDK. */
const NODE_FOLDERS = [".", "older"];
const NODE_CHECKS = ["openai.ts", "responses.ts", "completions.ts", "messages.ts"];
/** The Python SDKs and the frameworks based on them, with a requirements file for each of their major versions. */
const PYTHONS = [
  { sdk: "openai", majors: ["3", "1"], checks: ["openai_client.py", "responses_client.py"] },
  { sdk: "anthropic", majors: ["2", "0"], checks: ["messages_client.py"] },
  { sdk: "litellm", majors: ["1"], checks: ["litellm_client.py"] },
  { sdk: "open-webui", majors: ["0"], checks: ["open_webui_client.py"] },
  { sdk: "lm-eval", majors: ["0"], checks: ["lm_eval_client.py"] },
  { sdk: "instructor", majors: ["1"], checks: ["instructor_client.py"] },
  { sdk: "langchain", majors: ["1"], checks: ["langchain_client.py"] },
  { sdk: "llama-index", majors: ["0"], checks: ["llama_index_client.py"] },
  { sdk: "openai-agents", majors: ["0"], checks: ["openai_agents_client.py"] },
  { sdk: "pydantic-ai", majors: ["2"], checks: ["pydantic_ai_client.py"] },
  { sdk: "smolagents", majors: ["1"], checks: ["smolagents_client.py"] },
  { sdk: "dspy", majors: ["3"], checks: ["dspy_client.py"] },
  { sdk: "haystack", majors: ["3"], checks: ["haystack_client.py"] },
];

const root = join(import.meta.dir, "../..");
const built = join(root, "vendor/.build");
const cwd = import.meta.dir;
/** Clients in other languages: the folder with their program, its compiler, and what compiles and runs it. */
const COMPILED = [
  { folder: "go", compiler: "go", command: ["go", "run", "."] },
  { folder: "rust", compiler: "cargo", command: ["cargo", "run", "--quiet", "--locked"] },
  {
    folder: "java",
    compiler: "mvn",
    command: ["mvn", "--quiet", `-Dtarget=${join(built, "clients-java")}`, "compile", "exec:java"],
  },
];

/** Returns the interpreter for one version of an SDK, such as `openai-3`. */
const python = async (version: string) =>
  join(await pythonWith(join(import.meta.dir, `requirements-${version}.txt`), version), "python");

const command = process.argv.length > 2 ? process.argv.slice(2) : PROGRAM;
for (const folder of NODE_FOLDERS)
  await run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], { cwd: join(import.meta.dir, folder) });
const pythons = await Promise.all(
  PYTHONS.flatMap(({ sdk, majors, checks }) =>
    majors.map(async (major, index) => ({
      python: await python(`${sdk}-${major}`),
      checks,
      // The documentation is for the newest version.
      ...(index === 0 && { pages: sdk }),
    })),
  ),
);
const models = join(built, "models");
const endless = ["--model", makeModel("60m", models)];
const { model, projector } = makeVisionModel("tiles", models);
const tls = join(root, "test/fixtures/tls");
const certificate = join(tls, "cert.pem");
const SERVERS = {
  SVC_URL: [],
  ENDLESS_URL: [...endless, "--ctx", "8192", "--parallel", "4"],
  // Its answers are so long that none ends before its engine is killed.
  NARROW_URL: [...endless, "--ctx", "32768", "--parallel", "1", "--max-queue", "0"],
  VISION_URL: ["--model", model, "--mmproj", projector, "--ctx", "4096"],
  // Some clients support only TLS.
  SECURE_URL: ["--tls-cert", certificate, "--tls-key", join(tls, "key.pem")],
} satisfies Readonly<Record<string, readonly string[]>>;

const local = (port: number | undefined) => `http://127.0.0.1:${port}`;

type Servers = Record<keyof typeof SERVERS, TestServer>;

/** Starts the servers one after another, each nested in the one before, and stops them all afterwards. */
function withServers(test: (servers: Servers) => Promise<void>): Promise<void> {
  const start = (names: readonly string[], started: Partial<Servers>): Promise<void> => {
    const [name, ...others] = names as (keyof typeof SERVERS)[];
    if (name === undefined) return test(started as Servers);
    return withServer(SERVERS[name], (server) => start(others, { ...started, [name]: server }), command);
  };
  return start(Object.keys(SERVERS), {});
}

await withServers(async (servers) => {
  // With a request to this server, checks in any language can kill the engine of one server.
  const crash = Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    fetch: () => {
      process.kill(servers.NARROW_URL.enginePid(), "SIGKILL");
      return new Response();
    },
  });
  const llama = await launch(CHAT_PLANS["llama-server"]);
  const urls = Object.fromEntries(Object.entries(servers).map(([name, { url }]) => [name, url]));
  const env = { ...urls, NODE_EXTRA_CA_CERTS: certificate, CRASH_URL: local(crash.port), LLAMA_URL: local(llama.port) };
  for (const folder of NODE_FOLDERS) {
    for (const script of NODE_CHECKS) await runChecks([process.execPath, script, folder], { cwd, env });
  }
  await runChecks([process.execPath, "ai-sdk.ts"], { cwd, env });
  for (const page of ["browser.ts", "browser-images.ts"]) await runChecks([process.execPath, page], { cwd, env });
  const [program = "", ...others] = command;
  await runChecks([process.execPath, "page.ts", Bun.which(program) ?? program, ...others], { cwd, env });
  for (const { python, checks, pages } of pythons) {
    for (const script of checks) await runChecks([python, script], { cwd, env });
    if (pages !== undefined) await runChecks([process.execPath, "documentation.ts", pages, python], { cwd, env });
  }
  for (const { folder, compiler, command } of COMPILED) {
    const target = { CARGO_TARGET_DIR: join(built, "clients-rust") };
    if (!Bun.which(compiler)) skip(`the clients in ${folder}`, `${compiler} is not installed`);
    else await runChecks(command, { cwd: join(cwd, folder), env: { ...env, ...target } });
  }
  await llama.stop();
  await crash.stop(true);
});
if (skipped.length > 0) console.log(`\nSkipped:\n${[...new Set(skipped)].map((one) => `  ${one}\n`).join("")}`);
summary();
process.exit(counts.failed === 0 ? 0 : 1);
