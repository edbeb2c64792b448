// Enforces the import rules of AGENTS.md, and verifies that each rule catches what it is meant for.

import { expect, test } from "bun:test";
import { join } from "node:path";
import {
  cycles,
  filesNamedIn,
  formViolations,
  layerViolations,
  nameViolations,
  packageViolations,
  type Reserved,
  type SourceFile,
} from "./support/boundaries.ts";
import { layers } from "./support/layers.ts";

const root = join(import.meta.dir, "..");
const product = ["src", "ffi"];

const packages: readonly Reserved[] = [
  {
    what: /^(elysia|@elysiajs\/)/,
    within: product,
    only: ["src/http"],
    why: "the HTTP framework can be exchanged in one folder",
  },
  {
    what: /^@sinclair\/typebox/,
    within: product,
    only: ["src/contract/schema.ts"],
    why: "the schema library can be exchanged in one file",
  },
  {
    what: /^eventsource-parser/,
    within: product,
    only: ["src/gateway/stream-lines.ts", "src/cli/one-shot.ts", "src/page"],
    why: "the reader of streams can be exchanged in one file for each who reads them",
  },
  { what: /^bun:ffi$/, within: product, only: ["ffi"], why: "pointers stay below the typed binding" },
  {
    what: /^node:child_process$/,
    within: product,
    only: [],
    why: "processes are started in src/engine/process, with Bun.spawn",
  },
  {
    what: /^(preact|@preact\/|marked|dompurify|highlight\.js|idb|swagger-ui-dist)/,
    within: product,
    only: ["src/page"],
    why: "what runs in browsers is bundled apart",
  },
  {
    what: /^(node|bun):/,
    within: ["src/page", "src/domain", "src/text", "src/speech", "src/scheduler", "src/dialect", "src/contract"],
    only: [],
    why: "pure code gets what it needs as arguments",
  },
];

const names: readonly Reserved[] = [
  {
    what: /\b(innerHTML|outerHTML|insertAdjacentHTML|dangerouslySetInnerHTML)\b/,
    within: ["src/page"],
    only: ["src/page/view/markdown.tsx"],
    why: "markup of models goes through the sanitiser, in one place",
  },
  {
    what: /\b(process|Bun|import\.meta)\.env\b/,
    within: product,
    only: ["src/config"],
    why: "the environment reaches the program through the Config only",
  },
  {
    what: /\bBun\.spawn(Sync)?\b/,
    within: product,
    only: ["src/engine/process/process.ts", "src/engine/process/program.ts"],
    why: "one place starts engines, and one the host's programs; each ends what it started",
  },
  {
    what: /\bDate\.now\(|\bperformance\.now\(|\bMath\.random\(|\bsetTimeout\(/,
    within: ["src/text", "src/speech", "src/scheduler", "src/dialect", "src/contract", "src/page/logic"],
    only: [],
    why: "pure code has no clock and no dice, so that tests can repeat it",
  },
];

/**
 * In code as the transpiler prints it: a statement that begins with `expect` and continues with `rejects` or
 * `resolves`.
 */
const unawaited: readonly Reserved[] = [
  {
    what: /^\s*(void )?expect\((?:(?!\bexpect\()[\s\S])*?\)\.(rejects|resolves)\b/m,
    within: ["test"],
    only: [],
    why: "what is not awaited can fail after its test has passed",
  },
];

async function read(folders: readonly string[]): Promise<SourceFile[]> {
  const lists = await Promise.all(
    folders.map((folder) => Array.fromAsync(new Bun.Glob("**/*.{ts,tsx}").scan({ cwd: join(root, folder) }))),
  );
  const paths = lists.flatMap((list, index) => list.map((path) => `${folders[index]}/${path}`));
  const ours = paths.filter((path) => !path.includes("/node_modules/"));
  return Promise.all(ours.map(async (path) => ({ path, code: await Bun.file(join(root, path)).text() })));
}

const productFiles = await read(product);
const build = { path: "build.ts", code: await Bun.file(join(root, "build.ts")).text() };
const allFiles = [...productFiles, ...(await read(["vendor", "test"])), build];

test("the tests find source files at all", () => {
  expect(productFiles.map(({ path }) => path)).toContain("src/main.ts");
  expect(allFiles.map(({ path }) => path)).toContain("vendor/llama.ts");
});

test("every import obeys the table of layers", () => expect(layerViolations(productFiles, layers)).toEqual([]));
test("packages are imported only where allowed", () => expect(packageViolations(productFiles, packages)).toEqual([]));
test("environment, processes and clocks are used only where they belong", () =>
  expect(nameViolations(productFiles, names)).toEqual([]));
test("expectations of promises are awaited", () => expect(nameViolations(allFiles, unawaited)).toEqual([]));
test("no chain of imports leads back to its start", () => expect(cycles(allFiles)).toEqual([]));
test("under src/http not even type imports form a cycle", () =>
  expect(
    cycles(
      productFiles.filter(({ path }) => path.startsWith("src/http/")),
      filesNamedIn,
    ),
  ).toEqual([]));
test("there are no default exports, no barrels and no files above 500 lines", () =>
  expect(formViolations(allFiles, 500)).toEqual([]));

const planted = (path: string, code: string): SourceFile => ({ path, code });

test("an import across layers is reported, also when it is dynamic or for side effects", () => {
  const at = (path: string, code: string) => layerViolations([planted(path, code)], layers);
  expect(at("src/domain/ids.ts", 'import { a } from "../http/app.ts"; a();')).toEqual([
    "src/domain/ids.ts → src/http/app.ts: AGENTS.md lets src/domain import nothing",
  ]);
  expect(at("src/service/x.ts", 'export const load = () => import("../dialect/chat/decode.ts");')).toHaveLength(1);
  expect(at("src/http/routes/x.ts", 'import "../../engine/text/host.ts";')).toHaveLength(1);
  expect(at("ffi/llama/x.ts", 'export { version } from "../../src/config/version.ts";')).toHaveLength(1);
  expect(at("src/cli/x.ts", 'import { openLlama } from "../../ffi/llama/binding.ts"; openLlama("");')).toHaveLength(1);
  expect(at("src/cli/x.ts", 'import { Engine } from "../engine/text/child/engine.ts"; new Engine();')).toHaveLength(1);
  expect(at("src/newcomer/x.ts", 'import { a } from "../domain/ids.ts"; a();')).toHaveLength(1);
});

test("allowed imports pass, and so do types", () => {
  const at = (path: string, code: string) => layerViolations([planted(path, code)], layers);
  expect(at("src/domain/ids.ts", 'import type { App } from "../http/app.ts"; export let app: App;')).toEqual([]);
  expect(at("src/service/x.ts", 'import { a } from "../engine/text/port.ts"; a();')).toEqual([]);
  expect(at("src/engine/text/child/x.ts", 'import { a } from "../../../../ffi/llama/binding.ts"; a();')).toEqual([]);
  expect(at("src/http/routes/x.ts", 'import { a } from "../sse.ts"; a();')).toEqual([]);
});

test("a package or name in the wrong place is reported", () => {
  const uses = (path: string, code: string) => packageViolations([planted(path, code)], packages);
  expect(uses("src/service/x.ts", 'import { Elysia } from "elysia"; new Elysia();')).toHaveLength(1);
  expect(uses("src/engine/text/child/x.ts", 'import { dlopen } from "bun:ffi"; dlopen("", {});')).toHaveLength(1);
  expect(uses("src/contract/chat.ts", 'import { Type } from "@sinclair/typebox"; Type.Null();')).toHaveLength(1);
  expect(uses("src/scheduler/x.ts", 'import { readFileSync } from "node:fs"; readFileSync("");')).toHaveLength(1);
  expect(uses("src/http/x.ts", 'import { Elysia } from "elysia"; new Elysia();')).toEqual([]);

  const says = (path: string, code: string) => nameViolations([planted(path, code)], names);
  expect(says("src/http/x.ts", 'export const home = process.env["HOME"];')).toHaveLength(1);
  expect(says("src/http/x.ts", "export const home = () => Bun.env.HOME;")).toHaveLength(1);
  expect(says("src/service/x.ts", 'export const run = () => Bun.spawn(["ls"]);')).toHaveLength(1);
  expect(says("src/scheduler/x.ts", "export const now = () => performance.now();")).toHaveLength(1);
  expect(says("src/http/x.ts", "// process.env is read in src/config\nexport const a = 1;")).toEqual([]);
});

test("markup that bypasses the sanitizer is reported, and so are the page's packages elsewhere", () => {
  const view = 'export const a = () => <p dangerouslySetInnerHTML={{ __html: "" }} />;';
  expect(nameViolations([planted("src/page/view/x.tsx", view)], names)).toHaveLength(1);
  expect(nameViolations([planted("src/page/view/markdown.tsx", view)], names)).toEqual([]);
  const uses = (path: string) => packageViolations([planted(path, 'import { h } from "preact"; h("p");')], packages);
  expect(uses("src/http/x.ts")).toHaveLength(1);
  expect(uses("src/page/view/x.tsx")).toEqual([]);
});

test("an expectation of a promise that is not awaited is reported", () => {
  const at = (code: string) => nameViolations([planted("test/x.test.ts", code)], unawaited);
  expect(at("expect(load(1)).rejects.toThrow();")).toHaveLength(1);
  expect(at("{ void expect(load()).resolves.toBe(1); }")).toHaveLength(1);
  expect(at("await expect(load()).rejects.toThrow();\nexpect(1).toBe(1);")).toEqual([]);
  expect(at("expect(1).toBe(1);\nexport const check = () => expect(load()).rejects.toThrow();")).toEqual([]);
});

test("a cycle is reported with its whole chain, also one of types where types count", () => {
  const to = (target: string) => `import { a } from "./${target}.ts"; a();`;
  const ring = [planted("src/a.ts", to("b")), planted("src/b.ts", to("c")), planted("src/c.ts", to("a"))];
  expect(cycles(ring)).toEqual(["src/a.ts → src/b.ts → src/c.ts → src/a.ts"]);
  const typed = [...ring.slice(0, 2), planted("src/c.ts", 'import type {\n  A,\n} from "./a.ts";\nexport let a: A;')];
  expect(cycles(typed)).toEqual([]);
  expect(cycles(typed, filesNamedIn)).toHaveLength(1);
});

test("default exports, barrels, imports without ending and long files are reported", () => {
  const at = (path: string, code: string) => formViolations([planted(path, code)], 500);
  expect(at("src/a.ts", "export default 1;")).toHaveLength(1);
  expect(at("src/text/index.ts", "export const a = 1;")).toHaveLength(1);
  expect(at("src/a.ts", 'export * from "./b.ts";')).toHaveLength(1);
  expect(at("src/a.ts", 'import { b } from "./b"; b();')).toHaveLength(1);
  expect(at("src/a.ts", "// one\n".repeat(501))).toHaveLength(1);
  expect(at("src/a.ts", "// one\n".repeat(500))).toEqual([]);
});
