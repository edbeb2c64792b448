// What must stay private: prompts in logs, metrics and errors, and files outside the media folder.

import { mkdirSync, mkdtempSync, rmSync, symlinkSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { startServer } from "../support/server.ts";
import type { Row } from "./row.ts";

const SECRET = "canary-7f3a91";
const FLAGS = ["--ctx", "4096", "--threads", "1", "--max-tokens", "8", "--no-media-fetch"];

const message = { role: "user", content: SECRET };
/** Bodies that are answered and others that are refused at every stage, each containing the secret. */
const BODIES: readonly (readonly [path: string, body: unknown])[] = [
  ["/v1/chat/completions", { messages: [message] }],
  ["/v1/chat/completions", { messages: [message], stream: true, user: SECRET, metadata: { note: SECRET } }],
  ["/v1/chat/completions", { messages: [message], temperature: SECRET }],
  ["/v1/chat/completions", { messages: [{ role: SECRET, content: "Hi" }] }],
  ["/v1/chat/completions", { messages: [message], [SECRET]: 1 }],
  ["/v1/chat/completions", { messages: [message], model: SECRET }],
  ["/v1/chat/completions", { messages: [message], chat_template_kwargs: { [SECRET]: SECRET } }],
  ["/v1/chat/completions", { messages: [message], grammar: `root ::= ${SECRET}` }],
  [
    "/v1/chat/completions",
    {
      messages: [message],
      response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: SECRET } } },
    },
  ],
  [
    "/v1/chat/completions",
    { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url: `data:image/png,${SECRET}` } }] }] },
  ],
  ["/v1/chat/completions", { messages: [{ role: "user", content: `${SECRET} `.repeat(5000) }] }],
  ["/v1/chat/completions", `{"messages":"${SECRET}`],
  ["/v1/responses", { input: SECRET }],
  ["/v1/responses", { input: [{ type: SECRET }] }],
  ["/v1/messages", { max_tokens: 4, messages: [message] }],
  ["/v1/messages", { max_tokens: 4, messages: [{ role: "user", content: [{ type: SECRET }] }] }],
  ["/v1/completions", { prompt: SECRET }],
  ["/v1/completions", { prompt: { [SECRET]: 1 } }],
  ["/v1/embeddings", { input: SECRET }],
  ["/v1/embeddings", { input: [SECRET, 7] }],
  ["/v1/tokenize", { text: SECRET }],
  ["/v1/files", SECRET],
  ["/api/chat", { messages: [message], stream: false }],
  ["/api/generate", { prompt: SECRET, stream: false, format: SECRET }],
];

/** Puts a secret into every field and searches the server's output for it. */
async function logs(): Promise<Row> {
  const server = await startServer(FLAGS);
  let refused = 0;
  const told: string[] = [];
  for (const [path, body] of BODIES) {
    const response = await fetch(server.url + path, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: typeof body === "string" ? body : JSON.stringify(body),
    });
    const answer = await response.text();
    if (response.ok) continue;
    refused++;
    if (answer.includes(SECRET)) told.push(`${path}: ${answer}`);
  }
  for (const path of ["/metrics", "/health"]) {
    if ((await (await fetch(server.url + path)).text()).includes(SECRET)) told.push(path);
  }
  const inLog = (await server.kill()).split("\n").filter((line) => line.includes(SECRET));
  for (const line of [...told, ...inLog]) console.error(`FAIL  ${line.slice(0, 300)}`);
  return {
    promise: "Prompts never appear in logs, errors or metrics",
    attack: `a secret in every field of ${BODIES.length} requests`,
    figure: `in ${inLog.length} log lines, ${told.length} of ${refused} errors and metrics`,
    limit: "0",
    ok: inLog.length === 0 && told.length === 0 && refused > 0,
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
  const { model, projector } = makeVisionModel("tiles", join(import.meta.dir, "../../vendor/.build/models"));
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
