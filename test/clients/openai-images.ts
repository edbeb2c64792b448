// The TypeScript SDK: image generation and edits.

import { check, equal, ok, skip, untilIdle } from "./checks.ts";
import { failure, type Sdk } from "./sdk.ts";

const model = "gpt-image-1";
const SIZE = "128x128";
const asked = { model, prompt: "a red circle on a white background", size: SIZE };

interface ImageEvent {
  readonly type: string;
  readonly b64_json: string;
}

const isPng = (base64: string | undefined): boolean =>
  Buffer.from(base64 ?? "", "base64")
    .subarray(1, 4)
    .toString() === "PNG";

/** Registers the checks. */
export async function imageChecks({ OpenAI, client, toFile, version }: Sdk): Promise<void> {
  const { images } = client;
  /** The older version reads every answer of these routes as JSON, so a stream cannot be checked with it. */
  const checkStream = async (name: string, body: () => Promise<void>) =>
    version.startsWith("4.") ? skip(name, "this version streams no images") : check(name, body);
  const generate = (extra: object = {}) =>
    images.generate({ ...asked, ...extra } as Parameters<typeof images.generate>[0]);
  const edit = (extra: object) => images.edit({ ...asked, ...extra } as Parameters<typeof images.edit>[0]);
  const whole = async (call: PromiseLike<unknown>) =>
    (await call) as { data: { b64_json?: string; url?: string; seed?: number }[]; size?: string };
  const events = async (call: PromiseLike<unknown>) => Array.fromAsync((await call) as AsyncIterable<ImageEvent>);
  const drawn = async (extra: object = {}) =>
    Buffer.from((await whole(generate(extra))).data[0]?.b64_json ?? "", "base64");

  await check("images.generate gives images, each with a seed one above the last", async () => {
    const { data, size } = await whole(generate({ n: 2, seed: 7 }));
    equal(data.length, 2);
    ok(
      data.every(({ b64_json }) => isPng(b64_json)),
      "not PNG files",
    );
    equal(JSON.stringify(data.map(({ seed }) => seed)), "[7,8]");
    equal(size, SIZE);
  });

  await check("images.generate gives addresses of images", async () => {
    const { data } = await whole(generate({ response_format: "url" }));
    const response = await fetch(data[0]?.url ?? "");
    equal(response.headers.get("content-type"), "image/png");
  });

  await checkStream("images.generate streams what is there so far, then the image", async () => {
    const told = await events(generate({ stream: true, partial_images: 2, steps: 4 }));
    equal(told.at(-1)?.type, "image_generation.completed");
    const partial = told.slice(0, -1);
    ok(
      partial.length > 0 && partial.every(({ type }) => type === "image_generation.partial_image"),
      JSON.stringify(told.map(({ type }) => type)),
    );
    ok(isPng(told.at(-1)?.b64_json), "not a PNG file");
  });

  const image = async () => toFile(await drawn(), "image.png");

  await check("images.edit changes an image", async () => {
    const { data } = await whole(edit({ image: await image(), prompt: "a blue circle", strength: 0.5 }));
    ok(isPng(data[0]?.b64_json), "not a PNG file");
  });

  await checkStream("images.edit streams the changed image", async () => {
    const told = await events(edit({ image: await image(), prompt: "a blue circle", stream: true }));
    equal(told.at(-1)?.type, "image_edit.completed");
  });

  await check("what is not served is BadRequestError about its field", async () => {
    const error = await failure(() => generate({ style: "vivid" }), OpenAI.APIError);
    ok(error instanceof OpenAI.BadRequestError, error.message);
    equal(error.param, "style");
  });

  await checkStream("leaving a stream ends its work on the server", async () => {
    const stream = (await generate({
      stream: true,
      progress: true,
      steps: 150,
      size: "256x256",
    })) as unknown as AsyncIterable<ImageEvent>;
    for await (const _ of stream) break;
    await untilIdle("SVC_URL");
  });
}
