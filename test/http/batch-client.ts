// A batch client that checks every object against the contract.

import { expect } from "bun:test";
import { checker } from "../../src/contract/schema.ts";
import { Batch, BatchOutputLine } from "../../src/contract/batches.ts";
import type { Config } from "../../src/config/config.ts";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { hello, messages, serve, type TestServer } from "./harness.ts";

export const never = new Promise<void>(() => {});
export const checkBatch = checker(Batch);
const checkLine = checker(BatchOutputLine);

export const lineOf = (index: number, body: object = { messages }) => ({
  custom_id: `line-${index}`,
  method: "POST",
  url: "/v1/chat/completions",
  body,
});

export const jsonl = (lines: readonly unknown[]) => lines.map((line) => `${JSON.stringify(line)}\n`).join("");
export const many = (count: number) => Array.from({ length: count }, (_, index) => lineOf(index));

export async function upload({ url }: TestServer, content: string): Promise<string> {
  const response = await fetch(`${url}/v1/files`, { method: "POST", body: content });
  return ((await response.json()) as { id: string }).id;
}

export const get = async ({ url }: TestServer, id: string) =>
  checkBatch(await (await fetch(`${url}/v1/batches/${id}`)).json());

export async function create(server: TestServer, lines: readonly unknown[], extra: object = {}): Promise<Batch> {
  const input_file_id = await upload(server, jsonl(lines));
  const response = await server.post("/v1/batches", { input_file_id, endpoint: "/v1/chat/completions", ...extra });
  return checkBatch(await response.json());
}

export async function untilStatus(server: TestServer, id: string, ...statuses: readonly string[]): Promise<Batch> {
  for (let tries = 0; tries < 3000; tries++) {
    const batch = await get(server, id);
    if (statuses.includes(batch.status)) return batch;
    await Bun.sleep(10);
  }
  throw new Error(`it is still ${(await get(server, id)).status}`);
}

export async function output(server: TestServer, batch: Batch) {
  const response = await fetch(`${server.url}/v1/files/${batch.output_file_id}/content`);
  const text = await response.text();
  expect(text.endsWith("\n")).toBe(true);
  return text
    .trimEnd()
    .split("\n")
    .map((line) => checkLine(JSON.parse(line)));
}

export const cancel = (server: TestServer, id: string) => server.post(`/v1/batches/${id}/cancel`, "");
export const customIds = (lines: readonly { readonly custom_id: string }[]) =>
  lines.map(({ custom_id }) => custom_id).sort();

/** Starts a server on this folder; a test can start two on one folder, in turn or at once. */
export const on = (dataDir: string, script: FakeScript | ((request: GenerateRequest) => FakeScript) = hello) =>
  serve(script, { dataDir } satisfies Partial<Config>);
