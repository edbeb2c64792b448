// What must stay private: prompts in logs, metrics and errors, and files outside the media folder.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeEncoder } from "../models/make-encoder.ts";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { MODELS } from "../parity/servers.ts";
import { RealtimeClient } from "../support/realtime-client.ts";
import { startServer } from "../support/server.ts";
import { post } from "./engine-client.ts";
import type { Row } from "./row.ts";
import { SECRET, SECRET_EVENTS, secretLines, secretRequests } from "./secret-requests.ts";

const FLAGS = ["--ctx", "4096", "--threads", "1", "--max-tokens", "8", "--no-media-fetch"];
/** Refusals are for the content, not because a route is off. */
const MORE_FLAGS = ["--log-level", "debug", "--ocr-input", "--transcribe-input"];

type Told = (where: string, text: string) => void;

async function answerOf<Body>(response: Promise<Response>): Promise<Body> {
  return (await (await response).json()) as Body;
}

/** Has the lines of a batch answered; its files repeat them to their owner. */
async function batch(url: string): Promise<void> {
  const file = await answerOf<{ id: string }>(fetch(`${url}/v1/files`, { method: "POST", body: secretLines() }));
  const asked = { input_file_id: file.id, endpoint: "/v1/chat/completions", completion_window: "1h" };
  const metadata = { [SECRET]: SECRET };
  const { id } = await answerOf<{ id: string }>(post("/v1/batches", { ...asked, metadata })(url));
  const isOver = async () =>
    /completed|failed/.test((await answerOf<{ status: string }>(fetch(`${url}/v1/batches/${id}`))).status);
  while (!(await isOver())) await Bun.sleep(50);
}

/** Sends events on a live session until all are answered. */
async function session(url: string, told: Told): Promise<void> {
  const client = await RealtimeClient.open(url);
  for (const event of SECRET_EVENTS) client.send(event);
  client.set({});
  // The answers to the valid events, of which the last one is the last of all.
  for (let updated = 0; updated < 2; updated++) await client.next("session.updated");
  for (const { error } of client.events) told("an event of a session", error?.message ?? "");
  client.close();
}

/** Puts a secret into every field and searches the server's output for it. */
async function logs(): Promise<Row> {
  // Nothing is downloaded.
  process.env["HF_ENDPOINT"] = "http://127.0.0.1:9";
  const slots = mkdtempSync(join(tmpdir(), "svc-secrets-"));
  const reranker = makeEncoder("rank", MODELS);
  const server = await startServer([...FLAGS, ...MORE_FLAGS, "--rerank-model", reranker, "--slot-save-path", slots]);
  const { url } = server;
  const found: string[] = [];
  const told: Told = (where, text) => void (text.includes(SECRET) && found.push(`${where}: ${text}`));
  const { id } = await answerOf<{ id: string }>(post("/v1/conversations", {})(url));
  const requests = await secretRequests(id);
  let refused = 0;
  for (const { route, send } of requests) {
    const response = await send(url);
    const answer = await response.text();
    if (response.ok) continue;
    refused++;
    told(route, answer);
  }
  await batch(url);
  await session(url, told);
  for (const path of ["/metrics", "/health"]) told(path, await (await fetch(url + path)).text());
  const inLog = (await server.kill()).split("\n").filter((line) => line.includes(SECRET));
  rmSync(slots, { recursive: true, force: true });
  for (const line of [...found, ...inLog]) console.error(`FAIL  ${line.slice(0, 300)}`);
  const routes = new Set(requests.map(({ route }) => route)).size;
  return {
    promise: "Prompts never appear in logs, errors or metrics",
    attack: `a secret in every field of ${requests.length} requests to ${routes} routes, a batch and a live session`,
    figure: `in ${inLog.length} log lines, ${found.length} of ${refused} errors and metrics`,
    limit: "0",
    ok: inLog.length === 0 && found.length === 0 && refused > 0,
  };
}

/** Requests a picture outside the media folder in ways that work on other servers. */
async function files(): Promise<Row> {
  const folder = mkdtempSync(join(tmpdir(), "svc-secrets-"));
  const root = join(folder, "media");
  const outside = join(folder, "outside.png");
  // One pixel.
  const png = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
  mkdirSync(root);
  writeFileSync(outside, Buffer.from(png, "base64"));
  writeFileSync(join(root, "inside.png"), Buffer.from(png, "base64"));
  symlinkSync(outside, join(root, "link.png"));
  const { model, projector } = makeVisionModel("tiles", MODELS);
  const server = await startServer([...FLAGS, "--model", model, "--mmproj", projector, "--media-root", root]);
  const ask = async (url: string) => {
    const content = [{ type: "image_url", image_url: { url } }];
    const response = await fetch(`${server.url}/v1/chat/completions`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: JSON.stringify({ messages: [{ role: "user", content }], max_tokens: 1 }),
    });
    const { error } = (await response.json()) as { readonly error?: { readonly message: string } };
    return { served: response.ok, message: error?.message };
  };
  const ways = [
    outside,
    `file://${outside}`,
    `file://localhost${outside}`,
    "../outside.png",
    "file:../outside.png",
    "..%2foutside.png",
    `file://${root}/..%2foutside.png`,
    "link.png",
    `${root}/link.png`,
    `${root}/../outside.png`,
    `/proc/self/root${outside}`,
    "inside.png/../../outside.png",
    "/etc/passwd",
  ];
  try {
    const inside = await ask("inside.png");
    const nowhere = await ask("nowhere.png");
    const answers = await Promise.all(ways.map(ask));
    const served = answers.filter((answer) => answer.served).length;
    const apart = answers.filter((answer) => !answer.served && answer.message !== nowhere.message).length;
    return {
      promise: "File access is confined to --media-root and reveals nothing outside",
      attack: `${ways.length} ways to name an image outside it`,
      figure: `${served} served, ${apart} distinguishable from a missing file`,
      limit: "0",
      ok: served === 0 && apart === 0 && inside.served && !nowhere.served,
    };
  } finally {
    await server.kill();
    rmSync(folder, { recursive: true, force: true });
  }
}

export const secrets = async (): Promise<Row[]> => [await logs(), await files()];
