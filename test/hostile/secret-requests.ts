// Requests with a secret in every field that holds a client's text, for every route that takes one.

import { pngOf, drawn } from "../support/pages.ts";
import { form, post, recording, type Send } from "./engine-client.ts";

/** What must not be told. */
export const SECRET = "canary-7f3a91";

/** A name of no field; errors show names only if these are identifiers. */
const NAME = `${SECRET} `;

/** Routes whose bodies hold no text, or only names that the operator chose. */
export const WITHOUT_TEXT: readonly string[] = ["/v1/detokenize", "/detokenize", "/lora-adapters"];

export interface SecretRequest {
  /** The path as in the description of the API. */
  readonly route: string;
  readonly send: Send;
}

const CHAT = "/v1/chat/completions";
const message = { role: "user", content: SECRET };
const messages = [message];
/** A message that is refused. */
const strange = [{ role: SECRET, content: SECRET }];
const parts = (content: unknown) => [{ role: "user", content: [content] }];
const line = (body: unknown) => JSON.stringify({ custom_id: SECRET, method: "POST", url: CHAT, body });
const infill = { input_prefix: SECRET, input_suffix: SECRET, prompt: SECRET };

/** Bodies that are answered and others that are refused at every stage. */
const BODIES: readonly (readonly [route: string, ...bodies: readonly unknown[]])[] = [
  [
    CHAT,
    { messages },
    { messages, stream: true, user: SECRET, metadata: { note: SECRET } },
    { messages, temperature: SECRET },
    { messages: [{ role: SECRET, content: "Hi" }] },
    { messages, [NAME]: 1 },
    { messages, model: SECRET },
    { messages, chat_template_kwargs: { [SECRET]: SECRET } },
    { messages, grammar: `root ::= ${SECRET}` },
    {
      messages,
      response_format: { type: "json_schema", json_schema: { name: "x", schema: { type: SECRET } } },
    },
    { messages, tools: [{ type: "function", function: { name: SECRET, description: SECRET, parameters: {} } }] },
    { messages, tools: [{ type: SECRET }], tool_choice: SECRET },
    { messages, stop: [SECRET], logit_bias: { [SECRET]: 1 } },
    { messages: parts({ type: "image_url", image_url: { url: `data:image/png,${SECRET}` } }) },
    { messages: parts({ type: "image_url", image_url: { url: `https://${SECRET}.invalid/${SECRET}` } }) },
    { messages: parts({ type: "input_audio", input_audio: { data: SECRET, format: SECRET } }) },
    { messages: parts({ type: "file", file: { filename: SECRET, file_data: SECRET } }) },
    { messages: [{ role: "user", content: `${SECRET} `.repeat(5000) }] },
    `{"messages":"${SECRET}`,
  ],
  [`${CHAT}/input_tokens`, { messages }, { messages: strange }],
  [
    "/v1/responses",
    { input: SECRET, instructions: SECRET, metadata: { note: SECRET } },
    { input: [{ type: SECRET }] },
    { input: SECRET, previous_response_id: SECRET },
    { input: SECRET, conversation: SECRET },
  ],
  ["/v1/responses/compact", { input: SECRET }, { input: [{ type: SECRET }] }],
  ["/v1/responses/input_tokens", { input: SECRET }, { input: [{ type: SECRET }] }],
  [
    "/v1/conversations",
    { items: [{ type: "message", ...message }], metadata: { note: SECRET } },
    { items: [{ type: SECRET }] },
    { metadata: { note: [SECRET] } },
  ],
  ["/v1/conversations/{id}", { metadata: { [SECRET]: SECRET } }, { metadata: SECRET }],
  ["/v1/conversations/{id}/items", { items: [{ type: "message", ...message }] }, { items: [{ type: SECRET }] }],
  ["/v1/messages", { max_tokens: 4, messages }, { max_tokens: 4, messages: parts({ type: SECRET }) }],
  ["/v1/messages/count_tokens", { messages }, { messages: strange, system: SECRET }],
  ["/v1/completions", { prompt: SECRET, suffix: SECRET }, { prompt: SECRET }, { prompt: { [SECRET]: 1 } }],
  [
    "/v1/batch/completions",
    { requests: [{ custom_id: SECRET, body: { messages } }] },
    { requests: [{ custom_id: SECRET, body: { messages: strange } }] },
    { requests: [{ custom_id: [SECRET], body: { messages } }] },
  ],
  ["/v1/embeddings", { input: SECRET, user: SECRET }, { input: [SECRET, 7] }, { input: SECRET, model: SECRET }],
  ["/api/embed", { model: SECRET, input: SECRET }, { input: [SECRET, 7] }, { input: SECRET, options: { a: SECRET } }],
  ["/api/embeddings", { model: SECRET, prompt: SECRET }, { prompt: [SECRET] }],
  [
    "/v1/rerank",
    { query: SECRET, documents: [SECRET, { text: SECRET }] },
    { query: SECRET, documents: [SECRET, 7] },
    { query: SECRET, documents: [SECRET], truncate: SECRET },
  ],
  ["/v1/tokenize", { text: SECRET }, { text: [SECRET], [NAME]: SECRET }],
  ["/v1/count_tokens", { text: SECRET }, { text: [SECRET] }],
  ["/tokenize", { content: SECRET }, { prompt: SECRET }, { content: { [SECRET]: SECRET } }],
  ["/apply-template", { messages }, { messages: strange }],
  [
    "/completion",
    { prompt: SECRET, n_predict: 4 },
    { prompt: [SECRET, 7], n_predict: 4 },
    { prompt: SECRET, grammar: SECRET },
    { prompt: { [SECRET]: SECRET } },
  ],
  [
    "/infill",
    { ...infill, n_predict: 4 },
    { ...infill, input_extra: [{ filename: SECRET, text: SECRET }] },
    { ...infill, input_extra: SECRET },
  ],
  ["/api/chat", { messages, stream: false }, { messages, format: SECRET }, { messages: strange }],
  ["/api/generate", { prompt: SECRET, system: SECRET, stream: false }, { prompt: SECRET, format: SECRET }],
  ["/api/show", { model: SECRET }, { model: [SECRET] }],
  ["/api/pull", { model: `${SECRET}/${SECRET}`, stream: false }, { model: [SECRET] }],
  [
    "/v1/audio/speech",
    { input: SECRET, response_format: "wav" },
    { input: SECRET, voice: SECRET },
    { input: SECRET, response_format: SECRET, instructions: SECRET },
    { input: [SECRET] },
  ],
  ["/v1/realtime/client_secrets", { session: { type: "transcription", [NAME]: SECRET } }, { session: SECRET }],
  ["/v1/realtime/transcription_sessions", { input_audio_transcription: { prompt: SECRET, language: SECRET } }],
  [
    "/v1/vision/ocr",
    { data: SECRET, filename: SECRET },
    { file: SECRET },
    { data: SECRET, languages: [SECRET], mode: SECRET },
  ],
  [
    "/v1/ocr",
    { document: { type: "document_url", document_url: SECRET, document_name: SECRET } },
    { document: { type: "file", file_id: SECRET } },
    { document: { type: SECRET } },
  ],
  [
    "/v1/images/generations",
    { prompt: SECRET, negative_prompt: SECRET, size: "64x64", steps: 1, user: SECRET },
    { prompt: SECRET, size: SECRET },
    { prompt: SECRET, model: SECRET, response_format: SECRET },
    { prompt: [SECRET] },
  ],
  [
    "/sdapi/v1/txt2img",
    { prompt: SECRET, negative_prompt: SECRET, width: 64, height: 64, steps: 1 },
    { prompt: `<lora:${SECRET}:1>` },
    { prompt: SECRET, sampler_name: SECRET, scheduler: SECRET },
  ],
  [
    "/sdapi/v1/img2img",
    { prompt: SECRET, init_images: [SECRET] },
    { prompt: SECRET, init_images: SECRET, negative_prompt: [SECRET] },
  ],
  ["/sdapi/v1/options", { sd_model_checkpoint: SECRET }, { [NAME]: SECRET }],
  ["/slots/{id_slot}", { filename: SECRET }, { filename: `../${SECRET}` }, { filename: [SECRET] }],
  [
    "/v1/batches",
    { input_file_id: SECRET, endpoint: CHAT, completion_window: "1h" },
    { input_file_id: "file-1", endpoint: SECRET, completion_window: SECRET, metadata: { [SECRET]: SECRET } },
  ],
  ["/upstreams/{name}/drain", { replica: SECRET }, { [NAME]: SECRET }],
  ["/upstreams/{name}/resume", { replica: SECRET }, `{"replica":"${SECRET}`],
  ["/v1/files", SECRET],
];

/** Returns all requests but those of batches and live sessions, which take several steps. `conversation`: its id. */
export async function secretRequests(conversation: string): Promise<readonly SecretRequest[]> {
  const wav = await recording();
  const png = new Uint8Array(await pngOf(await drawn({ lines: [SECRET], paper: [30, 20] })));
  const ids: Readonly<Record<string, string>> = {
    "/v1/conversations/{id}": `/v1/conversations/${conversation}`,
    "/v1/conversations/{id}/items": `/v1/conversations/${conversation}/items`,
    "/slots/{id_slot}": "/slots/0?action=save",
    "/upstreams/{name}/drain": "/upstreams/none/drain",
    "/upstreams/{name}/resume": "/upstreams/none/resume",
  };
  const json = BODIES.flatMap(([route, ...bodies]) =>
    bodies.map((body) => ({ route, send: post(ids[route] ?? route, body as object | string) })),
  );
  const text = Buffer.from(SECRET);
  const sound = { prompt: SECRET, response_format: "json" };
  const forms: readonly (readonly [route: string, ...forms: readonly Parameters<typeof form>[1][]])[] = [
    ["/v1/audio/transcriptions", { ...sound, file: wav }, { ...sound, file: text }, { file: wav, language: SECRET }],
    ["/v1/audio/translations", { ...sound, file: wav }, { [NAME]: text }, { file: wav, response_format: SECRET }],
    ["/v1/vision/ocr", { file: png }, { file: text, mode: SECRET }, { [NAME]: png }],
    ["/v1/images/edits", { image: png, prompt: SECRET, steps: "1" }, { image: text, prompt: SECRET, size: SECRET }],
    ["/v1/images/upscale", { image: png, user: SECRET }, { image: text, scale: SECRET }],
    ["/v1/images/variations", { image: png, user: SECRET }],
    ["/v1/files", { purpose: SECRET, file: text }, { purpose: "batch", [NAME]: text }],
    ["/v1/files", { purpose: "batch", file: Buffer.from(line({ messages })) }, { purpose: "ocr", file: text }],
  ];
  const body = JSON.stringify({ model: SECRET });
  return [
    ...json,
    { route: "/api/delete", send: (url) => fetch(`${url}/api/delete`, { method: "DELETE", body }) },
    ...forms.flatMap(([route, ...all]) => all.map((one) => ({ route, send: form(route, one, `${SECRET}.bin`) }))),
  ];
}

/** Returns the file of a batch with a line that is answered and one that is refused. */
export const secretLines = (): string => [line({ messages, max_tokens: 4 }), line({ messages: strange })].join("\n");

/** Events of a live session, valid ones and others. */
export const SECRET_EVENTS: readonly (object | string)[] = [
  { type: SECRET },
  `{"type":"${SECRET}`,
  { type: "session.update", session: { type: SECRET } },
  {
    type: "session.update",
    session: { type: "transcription", audio: { input: { transcription: { prompt: SECRET, language: SECRET } } } },
  },
  {
    type: "session.update",
    session: { type: "transcription", audio: { input: { transcription: { prompt: SECRET } } } },
  },
  { type: "input_audio_buffer.append", audio: SECRET },
  { type: "input_audio_buffer.append", [NAME]: SECRET },
];
