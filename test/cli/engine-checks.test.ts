// What the checks of a self-test accept from a server, and when they are left out.

import { afterEach, expect, test } from "bun:test";
import type { NativeFiles } from "../../ffi/runtime/native-files.ts";
import { engineChecks } from "../../src/cli/engine-checks.ts";

const NOTHING: NativeFiles = {
  libraries: "",
  embeddedModel: "",
  embeddedImages: { model: "", textEncoder: "", taesd: "" },
};
const ALL: NativeFiles = {
  ...NOTHING,
  embeddedEmbeddings: "e",
  embeddedVoice: "v",
  embeddedTranscription: "t",
  embeddedTessdata: "o",
  imageLibrary: "i",
};
const servers: Bun.Server<undefined>[] = [];
afterEach(() => servers.splice(0).forEach((server) => void server.stop(true)));

/** Makes the checks with a server that gives these answers; returns what each found, or why it failed or was left out. */
async function found(native: NativeFiles, answers: Readonly<Record<string, () => Response>>, freeBytes = () => 1e9) {
  const fetch = ({ url }: Request) => answers[new URL(url).pathname]?.() ?? new Response("", { status: 200 });
  const server = Bun.serve({ hostname: "127.0.0.1", port: 0, fetch });
  servers.push(server);
  const results: Record<string, string> = {};
  for (const { name, skipped, work } of engineChecks(`http://127.0.0.1:${server.port}`, native, freeBytes)) {
    const reason = skipped?.();
    const result = reason === undefined ? work() : Promise.resolve(`skipped: ${reason}`);
    results[name.replace("POST ", "")] = await result.catch((error: Error) => `failed: ${error.message}`);
  }
  return results;
}

const json = (body: object) => () => Response.json(body);
const text = (body: string) => () => new Response(body);
const image = (bytes: number) => {
  const content = Buffer.alloc(bytes);
  content.set([0x89, 0x50, 0x4e, 0x47]);
  return json({ data: [{ b64_json: content.toString("base64") }] });
};
const vector = (of: number | null, length = 384) => json({ data: [{ embedding: Array.from({ length }, () => of) }] });

test("right answers pass", async () => {
  const answers = {
    "/v1/embeddings": vector(0.1),
    "/v1/audio/speech": text("sound"),
    "/v1/audio/transcriptions": text(" Good morning!\n"),
    "/v1/vision/ocr": text("It reads text\n"),
    "/v1/images/generations": image(2000),
  };
  expect(await found(ALL, answers)).toEqual({
    "/v1/embeddings": "384 dimensions",
    "/v1/audio/speech": "5 bytes",
    "/v1/audio/transcriptions": "what was spoken",
    "/v1/vision/ocr": "the text of an image",
    "/v1/images/generations": "2000 bytes",
  });
});

test("answers that computed nothing sensible fail", async () => {
  const answers = {
    "/v1/embeddings": vector(null),
    "/v1/audio/speech": text("sound"),
    "/v1/audio/transcriptions": text("[BLANK_AUDIO]"),
    "/v1/vision/ocr": text(""),
    "/v1/images/generations": image(300),
  };
  expect(await found(ALL, answers)).toEqual({
    "/v1/embeddings": "failed: the vector is incomplete",
    "/v1/audio/speech": "5 bytes",
    "/v1/audio/transcriptions": "failed: the transcript is not what was spoken",
    "/v1/vision/ocr": "failed: the text is not that of the image",
    "/v1/images/generations": "failed: the image is blank",
  });
  for (const broken of [vector(0), vector(0.1, 10)]) {
    expect((await found(ALL, { ...answers, "/v1/embeddings": broken }))["/v1/embeddings"]).toStartWith("failed");
  }
});

test("an error is told with its status and message, and without speech nothing is transcribed", async () => {
  const broken = () => Response.json({ error: { message: "The engine did not start." } }, { status: 503 });
  expect(await found(ALL, { "/v1/audio/speech": broken })).toMatchObject({
    "/v1/audio/speech": "failed: status 503, The engine did not start.",
    "/v1/audio/transcriptions": "skipped: nothing was spoken",
  });
});

test("what a build lacks is left out, each with its reason", async () => {
  const results = await found(NOTHING, {});
  expect(Object.keys(results)).toHaveLength(5);
  expect(new Set(Object.values(results))).toEqual(new Set(["skipped: not in this build"]));
});

test("what has too little memory when its turn comes is left out", async () => {
  let free = 450e6;
  const speak = () => {
    free -= 200e6;
    return new Response("sound");
  };
  const answers = { "/v1/embeddings": vector(0.1), "/v1/audio/speech": speak, "/v1/vision/ocr": text("It reads text") };
  expect(await found(ALL, answers, () => free)).toMatchObject({
    "/v1/audio/speech": "5 bytes",
    "/v1/audio/transcriptions": "skipped: less than 300 MB of memory are free",
    "/v1/vision/ocr": "the text of an image",
  });
  free = 249e6;
  const { "/v1/images/generations": drawn } = await found(ALL, answers, () => free);
  expect(drawn).toBe("skipped: less than 250 MB of memory are free");
});
