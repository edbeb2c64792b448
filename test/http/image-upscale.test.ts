// POST /v1/images/upscale: forms with an image, with an engine in memory.

import { describe, expect, test } from "bun:test";
import { Upscaled } from "../../src/contract/images.ts";
import type { ModelList } from "../../src/contract/model.ts";
import { checker } from "../../src/contract/schema.ts";
import { pngHeader } from "../media/files.ts";
import { errorOf, fault } from "../support/fault.ts";
import { expectGolden } from "./golden.ts";
import { leftovers, serve, type TestServer } from "./harness.ts";

const image = pngHeader(64, 96);
const start = () => serve(undefined, { imageUpscaleModels: ["/esrgan.safetensors"] });

type Fields = Readonly<Record<string, string>>;

function send(server: TestServer, fields: Fields = {}, file: Uint8Array<ArrayBuffer> | null = image) {
  const body = new FormData();
  for (const [name, value] of Object.entries(fields)) body.append(name, value);
  if (file) body.append("image", new Blob([file]), "image.png");
  return fetch(`${server.url}/v1/images/upscale`, { method: "POST", body });
}

test("the enlarged image is the response, without headers about generation", async () => {
  const server = start();
  const response = await send(server, { scale: "2", model: "esrgan" });
  expect([response.status, response.headers.get("x-svc-emulated-parameters")]).toEqual([200, "model"]);
  const answer = await response.text();
  checker(Upscaled)(JSON.parse(answer));
  await expectGolden("upscale.json", answer);
  expect(server.upscaler.asked).toMatchObject([{ upscale: { scale: 2 }, edit: { image: { field: "image" } } }]);
  expect(server.drawer.asked).toEqual([]);
  expect(leftovers(server)).toEqual([]);
});

test("the scale defaults to the model's own, and the file has the requested format", async () => {
  const server = start();
  const response = await send(server, { output_format: "webp", output_compression: "70", response_format: "url" });
  const { data, output_format } = (await response.json()) as Upscaled;
  expect([output_format, Object.keys(data[0] ?? {})]).toEqual(["webp", ["url"]]);
  expect(server.upscaler.asked).toMatchObject([{ upscale: {}, encoding: { format: "webp", quality: 70 } }]);
  const kept = await fetch(data[0]?.url ?? "");
  expect([kept.status, kept.headers.get("content-type")]).toEqual([200, "image/webp"]);
});

test("without a model the error names the option, and the image is not kept", async () => {
  const server = serve();
  const response = await send(server);
  const error = await errorOf(response.clone());
  expect(await fault(response)).toEqual([503, "engine_unavailable", null]);
  expect(error.message).toContain("--image-upscale-model");
  expect(leftovers(server)).toEqual([]);
});

test("the model is listed with its ability to upscale and cannot generate images", async () => {
  const server = start();
  const { models } = (await (await fetch(`${server.url}/v1/models`)).json()) as ModelList;
  expect(models.find(({ name }) => name === "fake-upscaler")?.capabilities).toEqual(["upscaling"]);
  const response = await server.post("/v1/images/generations", { prompt: "a cat", model: "fake-upscaler" });
  expect(response.headers.get("x-svc-emulated-parameters")).toBe("model");
  expect([server.drawer.asked.length, server.upscaler.asked.length]).toEqual([1, 0]);
});

describe("refuses", () => {
  test.each([
    [{ scale: "1" }, "scale"],
    [{ scale: "4.5" }, "scale"],
    [{ scale: "large" }, "scale"],
    [{ response_format: "png" }, "response_format"],
    [{ output_compression: "50" }, "output_compression"],
    [{ prompt: "sharper" }, "prompt"],
    [{ stream: "true" }, "stream"],
    [{ n: "2" }, "n"],
    [{ image: "text" }, "image"],
  ] as const)("%j", async (fields, param) => {
    const server = start();
    const [status, , named] = await fault(await send(server, fields, "image" in fields ? null : image));
    expect([status, named]).toEqual([400, param]);
    expect([server.upscaler.asked.length, leftovers(server)]).toEqual([0, []]);
  });

  test("a missing image, data that is not an image, too many pixels, and JSON", async () => {
    const server = start();
    expect(await fault(await send(server, {}, null))).toEqual([400, "missing_required_parameter", "image"]);
    expect(await fault(await send(server, {}, Buffer.from("text")))).toEqual([400, "invalid_value", "image"]);
    const large = await send(server, {}, pngHeader(1025, 1024));
    const error = await errorOf(large.clone());
    expect([...(await fault(large)), error.message]).toEqual([
      400,
      "invalid_value",
      "image",
      "'image' must have at most 1,048,576 pixels; got 1025 × 1024.",
    ]);
    expect((await send(server, {}, pngHeader(1024, 1024))).status).toBe(200);
    expect(await fault(await server.post("/v1/images/upscale", {}))).toEqual([400, "unsupported_media_type", null]);
    expect(leftovers(server)).toEqual([]);
  });
});
