// Every code block of README.md and docs/ works as described: shell blocks run, with curl, and use a server with
// engines in memory; arguments of `svc` are parsed; TypeScript runs with the official SDK. Blocks with `skip: …`
// after their language are not run, and the reason is printed. `define`: functions for later blocks of the page;
// `server: …`: options of the server. Python is only parsed here; `npm run test:clients` runs it with the SDKs.
// test/e2e/blocks.test.ts runs the shell blocks that bring all they need with the real program.

import { afterAll, describe, expect, test } from "bun:test";
import { mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { parseArguments } from "../../src/cli/arguments.ts";
import { commandNames } from "../../src/cli/commands.ts";
import type { Config } from "../../src/config/config.ts";
import { readConfig } from "../../src/config/read-config.ts";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { hello, serve } from "../http/harness.ts";
import { temporaryFolder } from "../support/folders.ts";
import { runToEnd } from "../support/program.ts";
import { transparentPng } from "../support/transparent-png.ts";
import { blocksOf, pages, type Block } from "./markdown.ts";

const ADDRESS = "127.0.0.1:9999";

/** Other programs than svc, whose arguments are not checked. */
const STAND_INS = ["aider", "aplay", "arecord", "claude", "qwen", "scanimage"];
/** Programs that change the machine or use the network: a block with one of them must have `skip`. */
const NEVER = ["apt", "apt-get", "brew", "docker", "git", "npm", "npx", "pip", "sudo", "systemctl"];
/** Programs that a machine may lack. */
const NEEDED = ["curl", "jq", "openssl", "base64"];

const PNG = transparentPng(64, 64, 0);
const LINE = {
  custom_id: "a",
  method: "POST",
  url: "/v1/chat/completions",
  body: { messages: [{ role: "user", content: "Hello!" }] },
};

/** Creates the files that the pages name, in a new folder. */
function folderWith(code: string): string {
  const folder = temporaryFolder();
  for (const [path] of code.matchAll(/[\w./-]+\.(?:gguf|safetensors|png|jpe?g|heic|pdf|mp3|m4a|wav|jsonl|pem)\b/g)) {
    if (path.includes("//") || path.startsWith("/")) continue;
    mkdirSync(join(folder, path, ".."), { recursive: true });
    writeFileSync(join(folder, path), path.endsWith(".jsonl") ? `${JSON.stringify(LINE)}\n` : PNG);
  }
  return folder;
}

/** A story goes on until the request is cancelled. */
const script = (request: GenerateRequest) =>
  JSON.stringify(request.messages).includes("story")
    ? { steps: [{ text: "Once" }, { wait: Bun.sleep(20_000) }, { text: "." }] }
    : hello;

const configOf = (args: readonly string[], folder: string): Config =>
  readConfig(parseArguments(args).values, { HOME: folder }, folder);

/** Returns what these options change compared with the defaults. */
function overridesOf(args: readonly string[], folder: string): Partial<Config> {
  const usual = configOf([], folder);
  const changed = Object.entries(configOf(args, folder)).filter(
    ([field, value]) => !Bun.deepEquals(value, usual[field as keyof Config]),
  );
  return Object.fromEntries(changed) as Partial<Config>;
}

/** `svc` records its arguments; `curl` uses the test's server and records failures. */
const preamble = (address: string) => `
svc() { printf '%s\\0' "$@" $'\\036' >> calls.bin; }
${STAND_INS.map((name) => `${name}() { :; }`).join("\n")}
${NEVER.map((name) => `${name}() { echo "${name} is not for tests" >> failures.txt; }`).join("\n")}
curl() {
  local given="$*" args=()
  while [ $# -gt 0 ]; do
    case "$1" in
      --json) args+=(-H 'Content-Type: application/json' --data-binary "$2"); shift 2 ;;
      *) args+=("\${1//${ADDRESS}/${address}}"); shift ;;
    esac
  done
  command curl -sS --fail-with-body --max-time 5 "\${args[@]}" || { echo "curl $given" >> failures.txt; }
}
`;

async function runShell({ code }: Block, definitions: string, args: readonly string[]): Promise<void> {
  const folder = folderWith(code);
  const server = serve(script, overridesOf(args, folder));
  for (const embedder of server.embedders) embedder.dimensions = 384;
  const shell = Bun.spawn(["bash", "-c", `${preamble(new URL(server.url).host)}${definitions}\n${code}\nwait`], {
    cwd: folder,
    env: { PATH: process.env["PATH"], HOME: folder },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  const [output, errors] = await Promise.all([shell.stdout.text(), shell.stderr.text(), shell.exited]);
  const failures = Bun.file(join(folder, "failures.txt"));
  expect((await failures.exists()) ? `${await failures.text()}${output}${errors}` : "").toBe("");
  expect(errors).not.toMatch(/command not found|syntax error/);
  const calls = Bun.file(join(folder, "calls.bin"));
  for (const call of (await calls.exists()) ? (await calls.text()).split("\u001e\0").slice(0, -1) : []) {
    const args = call.split("\0").slice(0, -1);
    // Throws, naming unknown options.
    configOf(args, folder);
  }
}

async function runTypeScript({ code }: Block): Promise<void> {
  const server = serve();
  // In this folder, imports are resolved.
  const path = join(import.meta.dir, `block-${process.pid}-${Bun.hash(code).toString(36)}.ts`);
  try {
    await Bun.write(path, code.replaceAll(ADDRESS, new URL(server.url).host));
    expect(await runToEnd([process.execPath, path])).toEqual({ code: 0, out: "Hello\n", err: "" });
  } finally {
    await Bun.file(path).delete();
  }
}

async function parsePython({ code }: Block): Promise<void> {
  const parse = ["python3", "-c", "import ast, sys; ast.parse(sys.stdin.read())"];
  expect(await runToEnd(parse, { stdin: new Blob([code]) })).toMatchObject({ code: 0, err: "" });
}

const notRun: string[] = [];
afterAll(() => console.log(`Blocks that are not run:\n${notRun.map((line) => `  ${line}`).join("\n")}`));

/** Returns why a block is not run, or undefined. */
function reasonNot({ note, code, language }: Block): string | undefined {
  const marked = /^skip: (.+)$/.exec(note)?.[1];
  if (marked !== undefined) return marked;
  const needed =
    language === "python" ? ["python3"] : language === "sh" ? NEEDED.filter((name) => code.includes(name)) : [];
  const missing = needed.find((name) => Bun.which(name) === null);
  return missing === undefined ? undefined : `${missing} is not installed`;
}

async function check(block: Block, definitions: string): Promise<void> {
  const { language, note, code } = block;
  const options = /^server: (.+)$/.exec(note)?.[1]?.split(" ") ?? [];
  switch (language) {
    case "sh":
      return runShell(block, definitions, options);
    case "ts":
      return runTypeScript(block);
    case "python":
      return parsePython(block);
    case "json":
      return void JSON.parse(code);
    case "yaml":
      return checkYaml(Bun.YAML.parse(code));
    case "toml":
      return void Bun.TOML.parse(code);
    default:
      throw new Error(`Nothing here runs blocks in "${language}".`);
  }
}

/** Parses the arguments with which containers start svc. */
function checkYaml(value: unknown): void {
  if (typeof value !== "object" || value === null) return;
  if (Array.isArray(value) && value.includes("--no-model")) parseArguments(value.map(String));
  else for (const inner of Object.values(value)) checkYaml(inner);
}

describe.each(pages().map((page) => [page.path, blocksOf(page)] as const))("%s", (_, blocks) => {
  const definitions = blocks.filter(({ note }) => note === "define").map(({ code }) => code);
  for (const block of blocks) {
    const reason = reasonNot(block);
    if (reason !== undefined) notRun.push(`${block.place}: ${reason}`);
    test.skipIf(reason !== undefined)(block.place, () => check(block, definitions.join("\n")));
  }
});

test("every option that the pages name exists", () => {
  // Options of curl and of this repository's other programs, and the pattern of negated options.
  const others = ["--json", "--flavour", "--rows", "--scenarios", "--no"];
  const isKnown = (name: string): boolean =>
    others.includes(name) ||
    [[], ...commandNames.map((command) => [command])].some((command) => {
      try {
        parseArguments([...command, name, "1"]);
        return true;
      } catch (error) {
        return !(error as Error).message.startsWith("Unknown option");
      }
    });
  const named = pages().flatMap(({ path, text }) =>
    [...text.matchAll(/`(--[a-z-]*[a-z])[^`\n]*`/g)].map(([, name = ""]) => ({ path, name })),
  );
  expect(named.length).toBeGreaterThan(200);
  expect(named.filter(({ name }) => !isKnown(name))).toEqual([]);
});
