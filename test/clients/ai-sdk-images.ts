// The Vercel AI SDK and its OpenAI provider: image generation.

import { createOpenAI } from "@ai-sdk/openai";
import { APICallError, generateImage } from "ai";
import { check, equal, ok, untilIdle } from "./checks.ts";
import { failure } from "./sdk.ts";

/** Registers the checks. */
export async function imageChecks(): Promise<void> {
  const openai = createOpenAI({ baseURL: `${process.env["SVC_URL"]}/v1`, apiKey: "unused" });
  const drawing = { model: openai.image("svc-draw"), prompt: "a red circle", size: "128x128", maxRetries: 0 } as const;

  await check("generateImage gives images", async () => {
    const { images } = await generateImage({ ...drawing, n: 2 });
    equal(images.length, 2);
    for (const { mediaType, uint8Array } of images) {
      equal(mediaType, "image/png");
      ok(uint8Array.length > 100, "an empty image");
    }
  });

  await check("generateImage with options of the provider", async () => {
    const providerOptions = { openai: { outputFormat: "webp", outputCompression: 50, quality: "low", user: "7" } };
    const { image } = await generateImage({ ...drawing, providerOptions });
    equal(image.mediaType, "image/webp");
  });

  await check("generateImage changes an image", async () => {
    const { image } = await generateImage(drawing);
    const prompt = { text: "a blue circle", images: [image.uint8Array] };
    equal((await generateImage({ ...drawing, prompt })).image.mediaType, "image/png");
  });

  await check("a size that is none is an APICallError that is not retried", async () => {
    const error = await failure(() => generateImage({ ...drawing, size: "10x10", maxRetries: 2 }), APICallError);
    equal(error.statusCode, 400);
    ok(!error.isRetryable, "would be retried");
  });

  await check("aborting generateImage ends its work on the server", async () => {
    const abort = new AbortController();
    const call = generateImage({ ...drawing, n: 6, size: "256x256", abortSignal: abort.signal });
    setTimeout(() => abort.abort(), 1500);
    await failure(() => call, Error);
    await untilIdle("SVC_URL");
  });
}
