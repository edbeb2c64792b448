// --transcribe-input: sound in messages to a model without audio input.

import { describe, expect, test } from "bun:test";
import { fault } from "../support/fault.ts";
import { assembleChat } from "../support/streams/chat.ts";
import { assembleResponse } from "../support/streams/responses.ts";
import { expectGolden } from "./golden.ts";
import { hello, leftovers, serve } from "./harness.ts";
import { HEARD, prompts, sound, text, user } from "./input-parts.ts";

const id = { "x-request-id": "golden" };
const on = { transcribeInput: true };
const inputText = (content: string) => ({ type: "input_text", text: content });

describe("sound to a model without audio input", () => {
  test("is replaced by its text, whatever its format, and the recording is removed", async () => {
    const server = serve(hello, on);
    const messages = user(text("What is said?"), sound("one", { language: "de-AT", format: "opus" }), sound("two"));
    expect((await server.chat({ messages })).status).toBe(200);
    expect(prompts(server)).toEqual([[{ role: "user", content: `What is said?\n${HEARD}\n${HEARD}` }]]);
    expect(server.transcriber.asked[0]?.languageField).toBe("messages.0.content.1.input_audio.language");
    expect(server.transcriber.asked.map(({ content, language }) => [content, language])).toEqual([
      ["one", "de"],
      ["two", undefined],
    ]);
    expect(leftovers(server)).toEqual([]);
    // Transcription and generation are counted separately.
    expect(server.metrics.calls).toEqual([
      "started",
      ...["started", "finished stop"].flatMap((call) => [`transcription ${call}`]),
      ...["started", "finished stop"].flatMap((call) => [`transcription ${call}`]),
      "first",
      "inter",
      "finished stop",
    ]);
  });

  test("is reported in the answer, streamed or not", async () => {
    const server = serve(hello, on);
    const messages = user(sound("one"));
    await expectGolden(
      "chat-transcribed.json",
      await (await server.post("/v1/chat/completions", { messages }, id)).text(),
    );
    const stream = await (await server.post("/v1/chat/completions", { messages, stream: true }, id)).text();
    assembleChat(stream);
    await expectGolden("chat-transcribed.sse", stream);
    const input = user(inputText("Hear this."), sound("two"));
    await expectGolden("responses-transcribed.json", await (await server.post("/v1/responses", { input }, id)).text());
    const events = await (await server.post("/v1/responses", { input, stream: true }, id)).text();
    assembleResponse(events);
    await expectGolden("responses-transcribed.sse", events);
  });

  test("of an earlier turn of a stored response is reported apart from that of this turn", async () => {
    const server = serve(hello, on);
    const { id: before } = (await (await server.post("/v1/responses", { input: user(sound("one")) })).json()) as {
      id: string;
    };
    server.transcriber.segments = server.transcriber.segments.slice(0, 1);
    await server.post("/v1/responses", { input: user(sound("two")), previous_response_id: before });
    expect(prompts(server)[1]?.map(({ content }) => content)).toEqual([HEARD, "Hello", "Hello there."]);
  });

  test("counts with its text when tokens are counted", async () => {
    const server = serve(hello, on);
    const input = user(sound("one"));
    const count = async (what: unknown) =>
      ((await (await server.post("/v1/responses/input_tokens", { input: what })).json()) as { input_tokens: number })
        .input_tokens;
    expect(await count(input)).toBe(await count(HEARD));
  });
});

const param = "messages.0.content.1.input_audio.data";

test.each([
  ["no base64", { data: "AA AA?" }, [400, "invalid_value", param]],
  ["nothing", { data: "" }, [400, "invalid_value", param]],
  ["more than may be", { data: Buffer.alloc(100_001).toBase64() }, [413, "payload_too_large", param]],
  ["an unknown language", { language: "klingon" }, [400, "invalid_value", "messages.0.content.1.input_audio.language"]],
] as const)("a failure of the sound itself names its field: %s", async (_, input_audio, refusal) => {
  const server = serve(hello, on);
  const answer = await server.chat({ messages: user(text("hi"), sound("one", input_audio)) });
  expect(await fault(answer)).toEqual([...refusal]);
  expect([prompts(server), leftovers(server)]).toEqual([[], []]);
});
