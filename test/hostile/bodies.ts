// Request bodies designed to be expensive, ten at once, and their cost for the process that reads them.

import { connect } from "node:net";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { MODELS } from "../parity/servers.ts";
import { transparentPng } from "../support/transparent-png.ts";
import type { Options, Row } from "./row.ts";
import { watched } from "./watched.ts";

const FLAGS = ["--ctx", "16384", "--parallel", "4", "--threads", "1"];
const AT_ONCE = 10;
const MB = 1024 * 1024;
const BYTES = 90 * MB;
const GIVEN_UP_MS = 60_000;
/** How long an endless body is watched. */
const ENDLESS_MS = 5000;
/** Longest response time of /health meanwhile. */
export const SLOWEST_HEALTH_MS = 100;

const CHAT = "/v1/chat/completions";
const FILES = "/v1/files";

interface Attack {
  readonly path: string;
  readonly body: () => Buffer;
  /** Default: lines of JSON for an upload, else JSON. */
  readonly type?: string;
  /** Whether fewer bytes are sent than announced. */
  readonly isEndless?: true;
  /** Whether the model has vision. */
  readonly isSeen?: true;
}

/** Returns `start`, then `part` repeated up to about `bytes`, then `end`. */
function filled(start: string, part: string, end: string, bytes = BYTES): Buffer {
  const parts = Math.floor(bytes / part.length);
  return Buffer.concat([Buffer.from(start), Buffer.alloc(parts * part.length, part), Buffer.from(end)]);
}

const MESSAGE = '{"role":"user","content":"Hello"}';
const PART = '{"type":"text","text":"a"}';
const messages = (part: string, last: string, bytes?: number) => () =>
  filled('{"messages":[', part, `${last}]}`, bytes);
const text = (part: string, bytes?: number) => () =>
  filled('{"messages":[{"role":"user","content":"', part, '"}]}', bytes);
const image = () =>
  filled(
    '{"messages":[{"role":"user","content":[{"type":"image_url","image_url":{"url":"data:image/png;base64,',
    "AAAA",
    '"}}]}]}',
  );
/** Returns as many images as a request may have, half of each transparent. */
const pictures = (side: number, detail: "auto" | "high") => () => {
  const url = `data:image/png;base64,${transparentPng(side, side, 128).toBase64()}`;
  const content = Array.from({ length: 32 }, () => ({ type: "image_url", image_url: { url, detail } }));
  return Buffer.from(JSON.stringify({ messages: [{ role: "user", content }] }));
};
const call = () =>
  filled(
    '{"messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":"[',
    "[],",
    '[]]"}}]}]}',
  );
/** Returns arguments as an object: half a surrogate pair, then many other escapes. */
const brokenCall = () =>
  filled(
    '{"messages":[{"role":"assistant","tool_calls":[{"id":"1","type":"function","function":{"name":"f","arguments":{"a":"\\ud800',
    "\\n",
    '"}}}]}]}',
  );
/** Returns biases for different tokens. */
const biases = (bytes: number) => () => {
  const entries = Array.from({ length: bytes / 13 }, (_, n) => `"${100_000_000 + ((n * 977) % 800_000_000)}":1`);
  return Buffer.from(`{"messages":[{"role":"user","content":"Hello"}],"logit_bias":{${entries.join()}}}`);
};
/** Repeats something small for as many answers as a request may have. */
const answers =
  (fields: object, content: unknown = "Hello") =>
  () =>
    Buffer.from(JSON.stringify({ messages: [{ role: "user", content }], n: 128, max_tokens: 1, ...fields }));
const scan = () => ({
  type: "image_url",
  image_url: { url: `data:image/png;base64,${transparentPng(2048, 2048, 128).toBase64()}` },
});
const line = (body: () => Buffer) => () =>
  Buffer.concat([
    Buffer.from('{"custom_id":"1","method":"POST","url":"/v1/chat/completions","body":'),
    body(),
    Buffer.from("}\n"),
  ]);

/** A form whose parts have no names; each costs a stream. */
const parts = (path: string, part: string): Attack => ({
  path,
  body: () => filled("--b\r\n\r\nx", part, "\r\n--b--\r\n", 8 * MB),
  type: "multipart/form-data; boundary=b",
});

const ATTACKS: Readonly<Record<string, Attack>> = {
  "one word": { path: CHAT, body: text("Hello", 5) },
  "90 MB of empty lists": { path: CHAT, body: messages("[],", "[]") },
  "90 MB of objects": { path: CHAT, body: messages('{"a":1},', "{}") },
  "90 MB of numbers": { path: CHAT, body: messages("1,", "1") },
  "a prompt of 90 MB of numbers": { path: "/v1/completions", body: () => filled('{"prompt":[', "1,", "1]}") },
  "a prompt of 990,000 tokens": {
    path: "/v1/completions",
    body: () => filled('{"prompt":[', "100,", "1]}", 3_960_000),
  },
  "900,000 tokens to detokenize": {
    path: "/detokenize",
    body: () => filled('{"tokens":[', "100,", "1]}", 3_600_000),
  },
  "a prompt of 990,000 tokens, the last one wrong": {
    path: "/v1/completions",
    body: () => filled('{"prompt":[', "100,", '"x"]}', 3_960_000),
  },
  "24,000 messages and a wrong field": {
    path: CHAT,
    body: () => filled('{"n":"x","messages":[', `${MESSAGE},`, `${MESSAGE}]}`, 24_000 * (MESSAGE.length + 1)),
  },
  "24,000 parts of a message, the last one wrong": {
    path: CHAT,
    body: () =>
      filled('{"messages":[{"role":"user","content":[', `${PART},`, '{"text":1}]}]}', 24_000 * (PART.length + 1)),
  },
  "as many JSON values as are allowed": { path: CHAT, body: messages("[],", "[]", 1_490_000) },
  "90 MB of logit_bias": { path: CHAT, body: biases(BYTES) },
  "13 MB of logit_bias": { path: CHAT, body: biases(12_900_000) },
  "1 MB of logit_bias": { path: CHAT, body: biases(1_200_000) },
  "2,560 entries of logit_bias for 128 answers": {
    path: CHAT,
    body: answers({ logit_bias: Object.fromEntries(Array.from({ length: 2560 }, (_, token) => [token, 1])) }),
  },
  "3.9 MB of template variables for 128 answers": {
    path: CHAT,
    body: answers({ chat_template_kwargs: { text: "a".repeat(3_900_000) } }),
  },
  "an image of 4 megapixels for 128 answers": { path: CHAT, body: () => answers({}, [scan()])(), isSeen: true },
  "90 MB of opening brackets": { path: CHAT, body: () => filled('{"messages":', "[", "") },
  "1 MB of bracket pairs": { path: CHAT, body: messages("[[]],", "[]", MB) },
  "90 MB in one string": { path: CHAT, body: text("a") },
  "an unterminated string": { path: CHAT, body: () => filled('{"messages":"', "a", ""), isEndless: true },
  "90 MB of escapes in one string": { path: CHAT, body: text('\\"\\n') },
  "90 MB in strings of 34 KB": {
    path: CHAT,
    body: messages(`{"role":"user","content":"${"a\\n".repeat(11_333)}"},`, "{}"),
  },
  "90 MB in strings of 7 KB": {
    path: CHAT,
    body: messages(`{"role":"user","content":"${"a\\n".repeat(2333)}"},`, "{}"),
  },
  "90 MB of digits": { path: CHAT, body: () => filled('{"messages":', "1", "}") },
  "35 MB of text": { path: CHAT, body: text("word\\n", 35 * MB) },
  "90 MB of lists as tool call arguments": { path: CHAT, body: call },
  "90 MB of escapes after half a surrogate pair, as tool call arguments": { path: CHAT, body: brokenCall },
  "an image of 90 MB": { path: CHAT, body: image },
  "32 transparent images of 49 megapixels": { path: CHAT, body: pictures(7000, "auto"), isSeen: true },
  "32 transparent images of 4 megapixels at full size": {
    path: CHAT,
    body: pictures(2048, "high"),
    isSeen: true,
  },
  "an upload of 1.7 million form parts in 8 MB": parts(FILES, "\r\n--b"),
  "a document in 760,000 form parts with an empty header": parts("/v1/vision/ocr", "\r\n--b\r\n\r\n\r\n"),
  "an image edit in 760,000 form parts with an empty header": parts("/v1/images/edits", "\r\n--b\r\n\r\n\r\n"),
  "a batch line of 90 MB of empty lists": { path: FILES, body: line(messages("[],", "[]")) },
  "a batch line of 13 MB of logit_bias": { path: FILES, body: line(biases(12_900_000)) },
  "a batch line of 90 MB in one string": { path: FILES, body: line(text("a")) },
};

/** Sends one POST over its own socket; resolves with the status, or why there is none. */
export function send(
  port: number,
  { path, isEndless, type = path === FILES ? "application/jsonl" : "application/json" }: Omit<Attack, "body">,
  bytes: Buffer,
): Promise<string> {
  const length = bytes.length + (isEndless ? MB : 0);
  const head = `POST ${path} HTTP/1.1\r\nHost: 127.0.0.1\r\nContent-Type: ${type}\r\nContent-Length: ${length}\r\n\r\n`;
  return new Promise((resolve) => {
    const socket = connect(port, "127.0.0.1", () => {
      socket.write(head);
      socket.write(bytes);
    });
    const end = (outcome: string) => {
      resolve(outcome);
      socket.destroy();
    };
    let answer = "";
    socket.on("data", (data) => {
      answer += data.toString("latin1");
      const status = /^HTTP\/1\.1 (\d+) /.exec(answer)?.[1];
      if (status !== undefined) end(status);
    });
    socket.on("error", () => end("no answer"));
    setTimeout(() => end("still waiting"), isEndless ? ENDLESS_MS : GIVEN_UP_MS).unref();
  });
}

function seeing(): string[] {
  const { model, projector } = makeVisionModel("tiles", MODELS);
  return ["--model", model, "--mmproj", projector];
}

async function attacked(name: string, attack: Attack): Promise<Row> {
  const bytes = attack.body();
  const flags = [...(attack.isSeen ? seeing() : []), ...FLAGS];
  const row = await watched(flags, SLOWEST_HEALTH_MS, async ({ port }) => {
    const statuses = await Promise.all(Array.from({ length: AT_ONCE }, () => send(port, attack, bytes)));
    const counts = [...Map.groupBy(statuses, (status) => status)].map(([status, all]) => `${all.length} × ${status}`);
    return { came: counts.join(", "), ok: !statuses.some((status) => /^5(?!03)|no/.test(status)) };
  });
  return { promise: "Memory per request body is bounded", attack: name, ...row };
}

export async function bodies({ attack: part = "" }: Options): Promise<Row[]> {
  const rows: Row[] = [];
  for (const [name, attack] of Object.entries(ATTACKS)) {
    if (!name.includes(part)) continue;
    const row = await attacked(name, attack);
    console.error(`${name}: ${row.figure}`);
    rows.push(row);
  }
  return rows;
}
