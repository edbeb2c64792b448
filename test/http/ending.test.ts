// How requests other than plain text generation end early: cancelled by id, by a disconnect, or at their deadline.

import { describe, expect, test } from "bun:test";
import { pngHeader } from "../media/files.ts";
import type { FakeEngine } from "../support/fake-engine.ts";
import { fakeModel } from "../support/fake-text-engine.ts";
import { fault } from "../support/fault.ts";
import { drawn, pngOf } from "../support/pages.ts";
import { post } from "../support/post.ts";
import { serverSentEvents } from "../support/streams/events.ts";
import { until } from "../support/until.ts";
import { hello, leftovers, serve, type TestServer } from "./harness.ts";

type Ending = (response: Response, status: number, code: string) => Promise<void>;

interface Route {
  readonly name: string;
  readonly path: string;
  readonly body: object;
  /** Starts a server with one place, where work waits for the gate. */
  readonly start: (gate: Promise<void>) => TestServer;
  readonly isHeld: (server: TestServer) => boolean;
  /** Uploaded files that are kept meanwhile. */
  readonly files: number;
  /** Expects that the answer tells the end. */
  readonly ends: Ending;
}

const refused: Ending = async (response, status, code) => {
  expect(await fault(response)).toEqual([status, code, null]);
};
const breaksOff: Ending = async (response) => {
  expect(response.status).toBe(200);
  expect(await response.text().catch(() => "broken off")).toBe("broken off");
};
/** An error event after events of these types. */
const errorAfter =
  (...types: readonly string[]): Ending =>
  async (response, _, code) => {
    const events = serverSentEvents(await response.text()).map(({ data }) => JSON.parse(data) as { type: string });
    expect(events.map(({ type }) => type)).toEqual([...types, "error"]);
    expect(events.at(-1)).toMatchObject({ error: { code } });
  };
/** A cancelled answer of the chat model is an answer. */
const finishes: Ending = async (response, status, code) => {
  if (status !== 499) return refused(response, status, code);
  expect(await response.json()).toMatchObject({ choices: [{ finish_reason: "cancelled" }] });
};

const places = { parallel: 1, maxQueue: 0 };

/** The fields of a route whose work waits in this engine. */
function waitingIn(engineOf: (server: TestServer) => FakeEngine, options: Parameters<typeof serve>[1] = {}) {
  return {
    start: (gate: Promise<void>) => {
      const server = serve(hello, { ...places, ...options });
      engineOf(server).gate = gate;
      return server;
    },
    isHeld: (server: TestServer) => engineOf(server).held === 1,
    files: 0,
    ends: refused,
  };
}

function form(fields: Readonly<Record<string, string | Uint8Array<ArrayBuffer>>>): FormData {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) {
    if (typeof value === "string") body.append(name, value);
    else body.append(name, new Blob([value]), name);
  }
  return body;
}

const token = (text: string) => ({
  text,
  logprobs: [{ token: text, logprob: 0, bytes: [...Buffer.from(text)], top: [] }],
});

const sound = Buffer.from("sound");
const picture = Buffer.from(await pngOf(await drawn({ lines: [], paper: [30, 20] })));
const chat = (part: object) => ({
  path: "/v1/chat/completions",
  body: { messages: [{ role: "user", content: [part] }] },
});

const drawing = { path: "/v1/images/generations", ...waitingIn(({ drawer }) => drawer) };
const transcribing = { path: "/v1/audio/transcriptions", ...waitingIn(({ transcriber }) => transcriber), files: 1 };
const speaking = { path: "/v1/audio/speech", ...waitingIn(({ speaker }) => speaker) };
const input = "Hello there. It is late.";

const routes: readonly Route[] = [
  { name: "an image", ...drawing, body: { prompt: "a circle" } },
  { name: "a streamed image", ...drawing, body: { prompt: "a circle", stream: true }, ends: errorAfter() },
  {
    name: "an edited image",
    ...drawing,
    path: "/v1/images/edits",
    body: form({ prompt: "in blue", image: pngHeader(64, 96), mask: pngHeader(64, 96, true) }),
    files: 2,
  },
  {
    name: "an enlarged image",
    path: "/v1/images/upscale",
    body: form({ image: pngHeader(64, 96) }),
    ...waitingIn(({ upscaler }) => upscaler, { imageUpscaleModels: ["/esrgan.safetensors"] }),
    files: 1,
  },
  {
    name: "recognition",
    path: "/v1/vision/ocr",
    body: { data: picture.toBase64() },
    ...waitingIn(({ reader }) => reader),
    files: 1,
  },
  {
    name: "classification",
    path: "/v1/vision/ocr",
    body: { data: picture.toBase64(), mode: "classify" },
    start: (gate) => {
      const server = serve({ steps: [token('{"labels": ['), { wait: gate }, token('"dog"]}')] }, places);
      server.engine.model = { ...fakeModel, vision: true };
      return server;
    },
    isHeld: ({ engine }) => engine.live === 1,
    files: 0,
    ends: refused,
  },
  { name: "a transcription", ...transcribing, body: form({ file: sound }) },
  {
    name: "a streamed transcription",
    ...transcribing,
    body: form({ file: sound, stream: "true" }),
    ends: errorAfter("transcript.text.delta"),
  },
  { name: "speech", ...speaking, body: { input }, ends: breaksOff },
  {
    name: "speech as events",
    ...speaking,
    body: { input, stream_format: "sse" },
    ends: errorAfter("speech.audio.delta"),
  },
  {
    name: "embeddings",
    path: "/v1/embeddings",
    body: { input: "a" },
    ...waitingIn(({ embedders: [engine = expect.unreachable()] }) => engine),
  },
  {
    name: "scores",
    path: "/v1/rerank",
    body: { query: "a", documents: ["a"] },
    ...waitingIn(({ embedders: [, engine = expect.unreachable()] }) => engine),
  },
  {
    name: "a chat whose image is read",
    ...chat({ type: "image_url", image_url: { url: `data:image/png;base64,${picture.toBase64()}` } }),
    ...waitingIn(({ reader }) => reader, { ocrInput: true }),
    files: 1,
    ends: finishes,
  },
  {
    name: "a chat whose sound is transcribed",
    ...chat({ type: "input_audio", input_audio: { data: sound.toBase64(), format: "wav" } }),
    ...waitingIn(({ transcriber }) => transcriber, { transcribeInput: true }),
    files: 1,
    ends: finishes,
  },
];

function send({ url }: TestServer, { path, body }: Route, headers = {}, signal?: AbortSignal) {
  if (!(body instanceof FormData)) return post(url + path, body, { headers, signal });
  return fetch(url + path, { method: "POST", body, headers, ...(signal && { signal }) });
}

describe.each(routes)("$name", (route) => {
  /** Sends a request that is held; `over` waits until nothing of it is left. */
  async function hold(headers: Record<string, string> = {}, signal?: AbortSignal) {
    const gate = Promise.withResolvers<void>();
    const server = route.start(gate.promise);
    const answer = send(server, route, headers, signal);
    answer.catch(() => {});
    await until(() => route.isHeld(server));
    expect(leftovers(server)).toHaveLength(route.files);
    const prompts = server.engine.requests.length;
    const over = async () => {
      const { requests, log } = server;
      await until(() => requests.activeCount + requests.registeredCount + leftovers(server).length === 0);
      expect(route.isHeld(server)).toBe(false);
      expect(server.engine.requests).toHaveLength(prompts);
      expect(log.lines.filter(({ level }) => level === "error")).toEqual([]);
    };
    return { server, answer, gate, over };
  }

  test("is cancelled by its id", async () => {
    const { server, answer, over } = await hold({ "x-request-id": "mine" });
    expect((await server.post("/v1/chat/completions/mine/cancel", {})).status).toBe(200);
    await route.ends(await answer, 499, "request_cancelled");
    await over();
  });

  test("is cancelled when its client disconnects, and frees its place", async () => {
    const leave = new AbortController();
    const { server, answer, gate, over } = await hold({}, leave.signal);
    leave.abort();
    expect(await answer.then((response) => response.text()).catch((error: Error) => error.name)).toBe("AbortError");
    await over();
    expect(server.metrics.calls.at(-1)).toEndWith("finished cancelled");
    gate.resolve();
    expect((await send(server, route)).status).toBe(200);
  });

  test("ends at its deadline", async () => {
    const { server, answer, over } = await hold({ "x-svc-deadline-ms": "60000" });
    server.clock.pass(60_000);
    await route.ends(await answer, 504, "deadline_exceeded");
    await over();
  });
});
