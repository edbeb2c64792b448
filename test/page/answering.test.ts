import { expect, test } from "bun:test";
import type { Attachment, Settings } from "../../src/page/logic/conversation.ts";
import type { Model } from "../../src/page/logic/models.ts";
import { writeAnswer } from "../../src/page/state/answering.ts";
import { Api } from "../../src/page/state/api.ts";

const PIXEL = `data:image/png;base64,${Buffer.from("png").toString("base64")}`;
const SETTINGS: Settings = { system: "Be brief.", temperature: 0.5, seed: 7, size: "256x512" };

const event = (one: object) => `data: ${JSON.stringify(one)}\n\n`;
const END = event({ choices: [{ index: 0, delta: {}, finish_reason: "stop" }] });
const DRAWN = event({ type: "image_generation.completed", b64_json: "AA==" });

/** Returns the request to the server for an answer of a model, which the server answers with this stream. */
async function sent(
  use: Model["use"],
  attachments: readonly Attachment[] = [],
  can = ["image_edits"],
  stream = `${use === "chat" ? END : DRAWN}data: [DONE]\n\n`,
) {
  const requests: { path: string; body: Record<string, unknown> }[] = [];
  class RecordingApi extends Api {
    override async fetch(path: string, body: object): Promise<Response> {
      requests.push({ path, body: body instanceof FormData ? Object.fromEntries(body) : { ...body } });
      return new Response(stream);
    }
  }
  const model = { id: "m", use, capabilities: new Set(can), loaded: true, reports: false, about: "" };
  const turn = { id: "1", parent: null, role: "user", text: "a fox", createdAt: 0, attachments } as const;
  const question = { path: [turn], settings: SETTINGS, model, signal: new AbortController().signal };
  await writeAnswer(new RecordingApi(), question, () => {});
  return requests[0];
}

test("an image request has seed and size from the settings, and no fields without effect", async () => {
  expect(await sent("image")).toEqual({
    path: "/v1/images/generations",
    body: { prompt: "a fox", model: "m", stream: true, partial_images: 2, seed: 7, size: "256x512" },
  });
  expect(await sent("image", [{ kind: "image", name: "a.png", data: PIXEL }])).toMatchObject({
    path: "/v1/images/edits",
    body: { seed: "7", size: "256x512" },
  });
});

test("files that an image model does not take are refused rather than ignored", async () => {
  const text = { kind: "text", name: "a.txt", data: "a" } as const;
  const picture = { kind: "image", name: "a.png", data: PIXEL } as const;
  await expect(sent("image", [picture, text])).rejects.toThrow("m takes only images.");
  await expect(sent("image", [picture], ["images"])).rejects.toThrow("m takes no files.");
});

test("a chat request has the seed and no size", async () => {
  expect((await sent("chat"))?.body).toMatchObject({ seed: 7, temperature: 0.5 });
  expect((await sent("chat"))?.body).not.toHaveProperty("size");
});

test.each([
  ["chat", "text", event({ choices: [{ index: 0, delta: { content: "Hel" }, finish_reason: null }] })],
  ["image", "picture", event({ type: "image_generation.partial_image", b64_json: "AA==" })],
] as const)("what ends in the middle was cut by a lost connection: %s, a %s", async (use, _, begun) => {
  await expect(sent(use, [], [], begun)).rejects.toThrow("The connection to the server was lost.");
});
