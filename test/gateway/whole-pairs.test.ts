// Half a surrogate pair in a request is replaced before the request goes to an upstream, which could not parse its
// JSON otherwise.

import { expect, test } from "bun:test";
import { serve } from "../http/harness.ts";
import { fixtureServer, helloStream } from "./fixture-server.ts";
import { remote } from "./remote.ts";

const HALF = "\ud83d";
const GIVEN = `a${HALF} \u{1f600} \\ud83d`;
const SENT = "a\ufffd \u{1f600} \\ud83d";

const llama = () =>
  fixtureServer(({ path }) => {
    if (path === "/v1/models")
      return Response.json({ data: ["far", "bge-m3"].map((id) => ({ id, owned_by: "llamacpp" })) });
    if (path === "/v1/embeddings") return Response.json({ data: [{ index: 0, embedding: [1] }] });
    return path.endsWith("/completions") ? helloStream() : undefined;
  });

const ollama = () =>
  fixtureServer(({ path }) => {
    if (path === "/api/tags") return Response.json({ models: [{ name: "far" }] });
    if (path === "/api/show") return Response.json({ capabilities: ["completion"] });
    if (path !== "/api/chat" && path !== "/api/generate") return undefined;
    const answer = JSON.stringify({ message: { content: "Hello" }, response: "Hello", done: true });
    return new Response(`${answer}\n`, { headers: { "content-type": "application/x-ndjson" } });
  });

const chat = (content: string) => ({ messages: [{ role: "user", content }] });
const named = (name: string) => ({ chat_template_kwargs: { a: { [name]: name } } });

test.each([
  ["a chat", llama, "/v1/chat/completions", { ...chat(GIVEN), ...named(HALF) }, { ...chat(SENT), ...named("\ufffd") }],
  ["a raw completion", llama, "/v1/completions", { prompt: GIVEN }, { prompt: SENT }],
  ["an input of vectors", llama, "/v1/embeddings", { model: "up/bge-m3", input: GIVEN }, { input: SENT }],
  ["a chat with Ollama", ollama, "/v1/chat/completions", chat(GIVEN), chat(SENT)],
  ["a raw completion of Ollama's", ollama, "/v1/completions", { prompt: GIVEN }, { prompt: SENT }],
] as const)("%s is sent on with whole pairs, in values and in names", async (_, far, path, body, sent) => {
  const server = far();
  const { gateway } = await remote([server.url]);
  const answer = await serve(undefined, {}, [gateway]).post(path, { model: "up/far", ...body });
  expect(answer.status).toBe(200);
  expect(server.asked.at(-1)?.body).toMatchObject(sent);
});
