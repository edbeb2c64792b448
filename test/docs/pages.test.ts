// Facts about the README and docs/ themselves: sizes, links, figures.

import { describe, expect, test } from "bun:test";
import { existsSync, readdirSync, readFileSync, statSync } from "node:fs";
import { dirname, join, relative } from "node:path";
import { anchorsOf, blocksOf, linksOf, pages, root } from "./markdown.ts";

const all = pages();
const read = (path: string) => readFileSync(join(root, path), "utf8");
const results = ["test/bench/RESULTS.md", "test/hostile/RESULTS.md"].map((path) => ({ path, text: read(path) }));

test("the README has at most 8 KB", () => {
  expect(Buffer.byteLength(read("README.md"))).toBeLessThanOrEqual(8192);
});

test("the index of docs/ lists every page", () => {
  const linked = linksOf({ path: "docs/README.md", text: read("docs/README.md") });
  const there = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".md") && name !== "README.md");
  expect(there.filter((name) => !linked.includes(name))).toEqual([]);
});

test("every picture of docs/ is shown on a page, and has at most 150 KB", () => {
  const shown = all.flatMap((page) => linksOf(page).map((link) => join(dirname(page.path), link)));
  const pictures = readdirSync(join(root, "docs")).filter((name) => name.endsWith(".png"));
  expect(pictures.filter((name) => !shown.includes(join("docs", name)))).toEqual([]);
  expect(pictures.filter((name) => statSync(join(root, "docs", name)).size > 150_000)).toEqual([]);
});

describe("links lead to existing pages and headings", () => {
  test.each([...all, ...results].map((page) => [page.path, page] as const))("%s", (path, page) => {
    const broken = linksOf(page).filter((link) => {
      const [file = "", anchor] = link.split("#");
      const target = file === "" ? path : relative(root, join(root, dirname(path), file));
      if (!existsSync(join(root, target))) return true;
      return anchor !== undefined && !anchorsOf(read(target)).has(anchor);
    });
    expect(broken).toEqual([]);
  });
});

test("the figures of the README match the documents", () => {
  const documents = [read("docs/performance.md"), ...results.map(({ text }) => text)].join("");
  const section = /^## Why svc$([^]*?)^## /m.exec(read("README.md"))?.[1] ?? "";
  const figures = section.match(/[\d.]+ (?:s|ms|tok\/s)\b/g) ?? [];
  expect(figures.length).toBeGreaterThanOrEqual(10);
  const isThere = (figure: string) => {
    const [number = "", unit = ""] = figure.split(" ");
    return new RegExp(`(?<![\\d.])${RegExp.escape(number)}(?: / [\\d.]+)? ${RegExp.escape(unit)}`).test(documents);
  };
  expect(figures.filter((figure) => !isThere(figure))).toEqual([]);
  const table = /^### One model(.*\n)*?###/m.exec(documents)?.[0] ?? "";
  const ranges = ["decode", "end to end"].map((row) => {
    const rows = table.matchAll(new RegExp(`^\\| ${row}, .*?/s +\\| .*?/s +\\| ([\\d.]+)`, "gm"));
    const ratios = [...rows].map(([, ratio]) => Number(ratio));
    return `${Math.min(...ratios).toFixed(2)} to ${Math.max(...ratios).toFixed(2)} times`;
  });
  expect([...(section.match(/[\d.]+ to [\d.]+ times/g) ?? [])]).toEqual(ranges);
});

test("the commands of code blocks need no Bun on the PATH, since npm installs it for the folder only", () => {
  const blocks = all.flatMap(blocksOf).filter(({ language }) => language === "sh");
  expect(blocks.filter(({ code }) => /^(\w+=\S+ )*bunx? /m.test(code)).map(({ place }) => place)).toEqual([]);
});

test("the scripts that docs/building.md runs with npm exist", () => {
  const { scripts } = JSON.parse(read("package.json")) as { scripts: Readonly<Record<string, string>> };
  const named = [...read("docs/building.md").matchAll(/\bnpm run ([\w:]+)/g)].map(([, name = ""]) => name);
  expect(named).toEqual(expect.arrayContaining(["build", "build:slim", "docs"]));
  expect(named.filter((name) => !Object.hasOwn(scripts, name))).toEqual([]);
});

/** A page, what it says, and where the code has it. The heads of connections (12 s) are Bun's. */
const constants = [
  ["limits", "are closed after 75 seconds", "src/http/server.ts", "IDLE_SECONDS = 75;"],
  ["limits", "nothing arrives for 30 seconds", "src/http/body-chunks.ts", "BODY_PATIENCE_MS = 30_000;"],
  ["limits", "at least 16 KiB must arrive in any 30 seconds", "src/http/body-chunks.ts", "LEAST_BYTES = 16 * 1024;"],
  ["limits", "reads less than 640 KiB in 5 minutes", "src/http/json-response.ts", "LEAST_READ = 640 * 1024;"],
  ["limits", "a large answer for 5 minutes", "src/http/sse.ts", "READER_PATIENCE_MS = 300_000;"],
  ["limits", "image models get 60 seconds more", "src/cli/image-engines.ts", "QUIET_MS = 60_000;"],
  ["limits", "Kokoro 120 seconds", "src/cli/speech-engines.ts", "quietMs: 120_000,"],
  ["limits", "| bodies that are being read | 256 MiB |", "src/domain/byte-budget.ts", "MOST_BYTES = 256 * MB;"],
  ["limits", "each value | 384 MiB |", "src/http/json-body.ts", "KEPT_SHARE = 1.5;"],
  ["limits", "files of running requests | 400 MiB |", "src/service/generation.ts", "MEDIA_BYTES = 400 * 2 ** 20;"],
  ["limits", "have read them | 512 MiB", "src/http/app.ts", "ANSWER_BYTES = 512 * 2 ** 20;"],
  ["limits", "that are being decoded (600 MiB)", "src/service/generation.ts", "DECODING_BYTES = 600 * 2 ** 20;"],
  ["limits", "(`n`) need (100 MiB)", "src/service/generation.ts", "COPIES_BYTES = 100 * 2 ** 20;"],
  ["limits", "begin to answer (256 MiB)", "src/gateway/request-bodies.ts", "LONG_BODIES_BYTES = 256 * 2 ** 20;"],
  ["models", "with a context of 4,096 tokens", "src/cli/engines.ts", "LEAST_CONTEXT = 4096;"],
  ["quickstart", "Qwen/Qwen3-4B-GGUF` | 2.5 GB", "src/cli/launch.ts", '"Qwen/Qwen3-4B-GGUF", bytes: 2.5e9'],
  ["quickstart", "Qwen/Qwen3-8B-GGUF` | 5 GB", "src/cli/launch.ts", '"Qwen/Qwen3-8B-GGUF", bytes: 5e9'],
  ["quickstart", "gpt-oss-20b-GGUF` | 12.1 GB", "src/cli/launch.ts", 'gpt-oss-20b-GGUF", bytes: 12.1e9'],
  ["quickstart", "30B-A3B-Instruct-GGUF` | 18.6 GB", "src/cli/launch.ts", '30B-A3B-Instruct-GGUF", bytes: 18.6e9'],
  ["gateway", "with 1,024 requests at the same time", "src/gateway/gateway.ts", "PARALLEL = 1024;"],
  ["gateway", "is 25 % above average", "src/gateway/upstream.ts", "LOAD_BOUND = 1.25;"],
  ["team", "chown 65532 keys", "packaging/templates/Dockerfile", "--chown=65532:65532"],
  ["team", "uid=65532", "packaging/templates/Dockerfile", "--chown=65532:65532"],
  ["cluster", "fsGroup: 65532", "packaging/templates/Dockerfile", "--chown=65532:65532"],
  ["cluster", "chown 65532 keys", "packaging/templates/Dockerfile", "--chown=65532:65532"],
] as const;

test.each(constants)("docs/%s.md says what the code has: %s", (page, said, file, constant) => {
  expect(read(`docs/${page}.md`).replaceAll(/\s+/g, " ")).toContain(said);
  expect(read(file)).toContain(constant);
});
