// Counting the tokens of requests with images.

import { describe, expect, spyOn, test } from "bun:test";
import { fakeModel } from "../support/fake-text-engine.ts";
import { serve } from "../http/harness.ts";
import { picture, pngFile } from "../models/media-files.ts";
import { json } from "./asking.ts";

describe("counting", () => {
  const counted = (url: string): [path: string, body: object, param: string][] => [
    [
      "/v1/messages/count_tokens",
      { messages: [{ role: "user", content: [{ type: "image", source: { type: "url", url } }] }] },
      "messages.0.content.0.source.url",
    ],
    [
      "/v1/chat/completions/input_tokens",
      { messages: [{ role: "user", content: [{ type: "image_url", image_url: { url } }] }] },
      "messages.0.content.0.image_url.url",
    ],
    [
      "/v1/responses/input_tokens",
      { input: [{ role: "user", content: [{ type: "input_image", image_url: url }] }] },
      "input.0.content.0.image_url",
    ],
  ];

  test("refuses images without a vision model, in the same way as an answer", async () => {
    for (const [path, asked, param] of counted("data:image/png;base64,aGVsbG8=")) {
      const response = await serve().post(path, asked);
      expect(response.status).toBe(400);
      expect((await json(response)).error).toMatchObject({ code: "unsupported_media_input", param });
    }
  });

  test("refuses data that is not an image, and passes images to the engine decoded and only once", async () => {
    const server = serve();
    server.engine.model = { ...fakeModel, vision: true };
    for (const [path, asked, param] of counted("data:image/png;base64,aGVsbG8=")) {
      const response = await server.post(path, asked);
      expect(response.status).toBe(400);
      expect((await json(response)).error).toMatchObject({ code: "invalid_value", param });
    }
    const picked = spyOn(server.engine, "countTokens");
    const png = Buffer.from(pngFile(picture(3, 2))).toString("base64");
    for (const [path, asked] of counted(`data:image/png;base64,${png}`)) {
      expect((await server.post(path, asked)).status).toBe(200);
    }
    const media = picked.mock.calls.map(([request]) => request.media);
    expect(media).toEqual([[expect.objectContaining({ width: 3, height: 2 })], media[0], media[0]]);
    expect(JSON.stringify(picked.mock.calls.map(([request]) => request.messages))).not.toContain(png);
  });

  test("counts a chat as it would be answered, in the form of responses", async () => {
    const { post, engine } = serve();
    const counted = spyOn(engine, "countTokens");
    const body = { messages: [{ role: "user", content: "hi" }], tools: [], add_generation_prompt: false };
    const answer: unknown = await json(post("/v1/chat/completions/input_tokens", body));
    const [request] = counted.mock.calls[0] ?? [];
    expect(answer).toEqual({
      object: "response.input_tokens",
      input_tokens: await engine.countTokens(request as never),
    });
    expect((await post("/v1/chat/completions/input_tokens", {})).status).toBe(400);
  });
});
