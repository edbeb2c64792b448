// `npm run test:types`: checks every recorded answer, whole and event by event, against the types of the official
// clients. Each is assigned as a literal, so the compiler reports missing, wrong and unknown fields. Installs the
// clients' packages below vendor/.build. The last line is `N pass` or the compiler's errors.

import { cp, mkdir } from "node:fs/promises";
import { join } from "node:path";
import { deviations, type TypeName } from "./deviations.ts";
import { LiteralWriter } from "./literal.ts";
import { recordedParts } from "./recorded.ts";

const root = join(import.meta.dir, "../..");
const folder = join(root, "vendor/.build/types");

const HEAD = `import type { Message, RawMessageStreamEvent } from "@anthropic-ai/sdk/resources/messages";
import type { PageResponse } from "@anthropic-ai/sdk/core/pagination";
import type { ModelInfo } from "@anthropic-ai/sdk/resources/models";
import type { ErrorResponse } from "@anthropic-ai/sdk/resources/shared";
import type { ChatResponse, GenerateResponse } from "ollama";
import type {
  Transcription,
  TranscriptionStreamEvent,
  TranscriptionVerbose,
} from "openai/resources/audio/transcriptions";
import type { ChatCompletion, ChatCompletionChunk } from "openai/resources/chat/completions";
import type { Batch } from "openai/resources/batches";
import type { Completion } from "openai/resources/completions";
import type { Conversation } from "openai/resources/conversations/conversations";
import type { ConversationItemList } from "openai/resources/conversations/items";
import type { CreateEmbeddingResponse } from "openai/resources/embeddings";
import type { RealtimeServerEvent as FlatRealtimeServerEvent } from "openai/resources/beta/realtime/realtime";
import type { FileObject } from "openai/resources/files";
import type {
  ImageEditCompletedEvent,
  ImageEditPartialImageEvent,
  ImageGenCompletedEvent,
  ImageGenPartialImageEvent,
  ImagesResponse,
} from "openai/resources/images";
import type { RealtimeServerEvent } from "openai/resources/realtime/realtime";
import type { CompactedResponse, Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import type { ErrorObject as OpenAIError } from "openai/resources/shared";
type ModelPage = PageResponse<ModelInfo>;
`;

const TSCONFIG = {
  compilerOptions: {
    target: "ESNext",
    module: "Preserve",
    moduleResolution: "bundler",
    lib: ["ESNext", "DOM"],
    types: [],
    strict: true,
    skipLibCheck: true,
    noEmit: true,
  },
  files: ["recorded.ts"],
};

async function run(
  command: readonly string[],
  cwd: string,
): Promise<{ readonly output: string; readonly ok: boolean }> {
  const child = Bun.spawn([...command], { cwd, stdin: "ignore", stdout: "pipe", stderr: "inherit" });
  const [output, status] = await Promise.all([child.stdout.text(), child.exited]);
  return { output, ok: status === 0 };
}

/** Installs the pinned packages, unless they are present. */
async function install(): Promise<void> {
  const lock = await Bun.file(join(import.meta.dir, "package-lock.json")).text();
  const marker = Bun.file(join(folder, "installed.json"));
  if ((await marker.exists()) && (await marker.text()) === lock) return;
  await mkdir(folder, { recursive: true });
  for (const file of ["package.json", "package-lock.json"]) await cp(join(import.meta.dir, file), join(folder, file));
  const { ok } = await run(["npm", "ci", "--silent", "--no-audit", "--no-fund"], folder);
  if (!ok) throw new Error("the clients' packages cannot be installed");
  await marker.write(lock);
}

const writers = Object.fromEntries(
  Object.entries(deviations).map(([type, known]) => [type, new LiteralWriter(known)]),
) as Record<TypeName, LiteralWriter>;
const lines: string[] = [HEAD];
const proven = new Set<string>();
let count = 0;

for await (const { type, value, from, partial } of recordedParts()) {
  const name = `part${++count}`;
  const stated = partial ? `Partial<${type}>` : type;
  const literal = writers[type].write(value);
  lines.push(`// ${from}`, `export const ${name}: ${stated} = ${literal};`);
  if (proven.has(stated)) continue;
  // The same value with an additional field: the compiler must report it, or the check proves nothing.
  proven.add(stated);
  lines.push(
    "// @ts-expect-error",
    `export const unknown${name}: ${stated} = ${literal.replace("{ ", "{ not_a_field: 1, ")};`,
  );
}

await install();
await Bun.write(join(folder, "recorded.ts"), lines.join("\n"));
await Bun.write(join(folder, "tsconfig.json"), JSON.stringify(TSCONFIG));
const tsc = join(root, "node_modules/.bin/tsc");
const { output, ok } = await run([tsc, "--noEmit", "-p", "."], folder);
process.stdout.write(output);
const idle = Object.entries(writers).flatMap(([type, { unused }]) => unused.map((path) => `${type}: ${path}`));
for (const one of idle) console.log(`no recorded answer has this deviation: ${one}`);
const passed = ok && idle.length === 0;
console.log(passed ? ` ${count} pass\n 0 fail` : ` 1 fail`);
process.exit(passed ? 0 : 1);
