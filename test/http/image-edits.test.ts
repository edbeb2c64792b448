// POST /v1/images/edits: forms with images, with an engine in memory.

import { describe, expect, test } from "bun:test";
import { Images } from "../../src/contract/images.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { pngHeader } from "../media/files.ts";
import { errorOf, fault } from "../support/fault.ts";
import { rejection } from "../support/thrown.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { leftovers, serve, type TestServer } from "./harness.ts";

const PATH = "/v1/images/edits";
const MB = 1024 * 1024;
const id = { "x-request-id": "golden" };
const prompt = "in blue";
const image = pngHeader(64, 96);
const mask = pngHeader(64, 96, true);

type Part = readonly [name: string, value: string | Uint8Array<ArrayBuffer>];
const described: Part = ["prompt", prompt];
const base: readonly Part[] = [described, ["image", image]];

/** Returns a form whose byte parts are files. */
function form(...parts: readonly Part[]): FormData {
  const body = new FormData();
  for (const [name, value] of parts) {
    if (typeof value === "string") body.append(name, value);
    else body.append(name, new Blob([value]), "image.png");
  }
  return body;
}
const send = (server: TestServer, body: FormData, headers = {}) =>
  fetch(server.url + PATH, { method: "POST", body, headers });

const text = (bytes: Uint8Array) => new TextDecoder().decode(bytes);

describe("answers", () => {
  test("contain the changed images", async () => {
    const server = serve();
    const parts: Part[] = [...base, ["seed", "7"], ["n", "2"], ["model", "gpt-image-1"]];
    const response = await send(server, form(...parts), id);
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    expect(response.headers.get("x-svc-emulated-parameters")).toBe("model");
    const answer = await response.text();
    checker(Images)(JSON.parse(answer));
    await expectGolden("edits.json", answer);
    expect(leftovers(server)).toEqual([]);
  });

  test("can be a stream", async () => {
    const server = serve();
    const parts: Part[] = [...base, ["seed", "7"], ["stream", "true"], ["partial_images", "1"]];
    await expectGolden("edits.sse", await (await send(server, form(...parts), id)).text());
    await until(() => leftovers(server).length === 0);
  });

  test("are an error for a form without a prompt", async () => {
    await expectGolden("edits-refused.json", await (await send(serve(), form(["image", image]), id)).text());
  });

  test("follow the fields of the form, which reach the engine", async () => {
    const server = serve();
    const parts = [
      ["image[]", image],
      ["prompt", prompt],
      ["mask", mask],
      ["image[]", pngHeader(10, 10)],
      ["strength", "0.25"],
      ["steps", "4"],
      ["cfg_scale", "2.5"],
      ["size", "128x64"],
      ["lora", '[{"name":"ink","scale":0.5}]'],
      ["metadata", "false"],
      ["output_format", "jpeg"],
      ["output_compression", "80"],
    ] as const;
    expect((await send(server, form(...parts))).status).toBe(200);
    expect(server.drawer.asked[0]).toMatchObject({
      prompt,
      size: { width: 128, height: 64 },
      steps: 4,
      guidance: 2.5,
      adapters: [{ name: "ink", scale: 0.5 }],
      encoding: { format: "jpeg", quality: 80, withParameters: false },
      edit: {
        image: { field: "image[]" },
        references: [{ field: "image[]" }],
        mask: { field: "mask" },
        strength: 0.25,
      },
      files: [text(image), text(pngHeader(10, 10)), text(mask)],
    });
  });
});

test("fields that are empty count as absent", async () => {
  const server = serve();
  const empty = ["size", "quality", "n", "stream", "strength", "model", "response_format"].map(
    (name) => [name, ""] as const,
  );
  const response = await send(server, form(...base, ...empty));
  expect(response.status).toBe(200);
  expect(server.drawer.asked).toHaveLength(1);
  expect(await fault(await send(server, form(["prompt", ""], ["image", image])))).toEqual([
    400,
    "invalid_value",
    "prompt",
  ]);
});

describe("refuses and names the field", () => {
  test.each<[string, readonly Part[], string, string?]>([
    ["no image", [described], "image"],
    ["a mask alone", [described, ["mask", mask]], "image"],
    ["an image that is text", [described, ["image", "aGk="]], "image"],
    ["a mask that is text", [...base, ["mask", "aGk="]], "mask"],
    ["two masks", [...base, ["mask", mask], ["mask", mask]], "mask"],
    ["a mask of another size", [...base, ["mask", pngHeader(96, 64, true)]], "mask"],
    ["a mask without transparency", [...base, ["mask", image]], "mask"],
    ["an empty image", [described, ["image", new Uint8Array()]], "image"],
    ["a file of another type", [described, ["image", new TextEncoder().encode("GIF89a, or so")]], "image"],
    ["an image that is cut off", [described, ["image", image.slice(0, -4)]], "image"],
    ["an image that is too large", [described, ["image", pngHeader(50_000, 50_000)]], "image"],
    ["a second image that is none", [...base, ["image", image.slice(0, 20)]], "image"],
    ["an empty one behind a good one", [...base, ["image", new Uint8Array()]], "image"],
    [
      "a file of another name",
      [...base, ["markup", mask]],
      "image",
      "Parts with files must be named image, image[] or mask; got one named 'markup'.",
    ],
    [
      "no strength at all",
      [...base, ["strength", "0"]],
      "strength",
      "'strength' must be a number above 0 and at most 1; got 0.",
    ],
    ["too much of it", [...base, ["strength", "1.1"]], "strength"],
    ["what is not served", [...base, ["input_fidelity", "high"]], "input_fidelity"],
    ["a number that is none", [...base, ["n", "two"]], "n"],
  ])("%s", async (_, parts, param, told = "") => {
    const server = serve();
    const response = await send(server, form(...parts));
    const error = await errorOf(response);
    expect([response.status, error.param]).toEqual([400, param]);
    expect(error.message).toContain(told);
    expect(server.drawer.asked).toEqual([]);
    expect(leftovers(server)).toEqual([]);
  });

  test("more images than a request may have, under both names", async () => {
    const server = serve();
    const many = (name: string, count: number) => Array.from({ length: count }, () => [name, image] as const);
    const parts = [described, ...many("image", 9), ...many("image[]", 8)] as const;
    expect(await fault(await send(server, form(...parts)))).toEqual([400, "invalid_value", "image"]);
    expect(await fault(await send(server, form(described, ...many("image", 17))))).toEqual([
      400,
      "invalid_value",
      "image",
    ]);
    expect(leftovers(server)).toEqual([]);
  });

  test("a body that is not a form", async () => {
    const response = await serve().post(PATH, { prompt, image: "aGk=" });
    expect(await fault(response)).toEqual([400, "unsupported_media_type", null]);
  });

  test("a truncated form, which leaves nothing behind", async () => {
    const server = serve();
    const whole = new Response(form(...base, ["image[]", mask]));
    const headers = { "content-type": whole.headers.get("content-type") ?? "" };
    const body = (await whole.bytes()).slice(0, -60);
    const response = await fetch(server.url + PATH, { method: "POST", headers, body });
    expect((await fault(response)).slice(0, 2)).toEqual([400, "invalid_value"]);
    expect(leftovers(server)).toEqual([]);
  });

  test("files that are too large, individually or together", async () => {
    const server = serve();
    const large = new Uint8Array(20 * MB + 1);
    const one = await send(server, form(...base, ["image[]", large]));
    expect(await fault(one)).toEqual([413, "payload_too_large", "image[]"]);
    const headers = { "content-type": "multipart/form-data; boundary=x" };
    let left = 101;
    const body = new ReadableStream({
      pull: (controller) => (left-- > 0 ? controller.enqueue(new Uint8Array(MB)) : controller.close()),
    });
    const all = await fetch(server.url + PATH, { method: "POST", headers, body });
    expect(await fault(all)).toEqual([413, "payload_too_large", "image"]);
    expect(leftovers(server)).toEqual([]);
  }, 30_000);
});

test("uploaded files are removed when the engine refuses them", async () => {
  const server = serve();
  server.drawer.refusal = new SvcError("unsupported_media_input", "'mask' is not for this model.", { param: "mask" });
  const answer = send(server, form(...base, ["mask", mask]));
  expect(await fault(await answer)).toEqual([400, "unsupported_media_input", "mask"]);
  expect(leftovers(server)).toEqual([]);
});

test("an edit can be cancelled while its images are checked, before the engine has it", async () => {
  const server = serve();
  const stored = await server.images.pictures.receive([image], "image");
  const cancelled: boolean[] = [];
  const read = {
    ...stored,
    get path() {
      cancelled.push(server.requests.cancel("mine"));
      return stored.path;
    },
  };
  const work = { prompt, count: 1, previews: 0, encoding: { format: "png", withParameters: false } } as const;
  const run = { id: "mine", work, edit: { image: read, references: [] } };
  const drawn = Array.fromAsync(server.images.draw(run, new AbortController().signal, {}));
  expect(await rejection(drawn)).toEqual(["request_cancelled", undefined]);
  expect(cancelled).toContain(true);
  expect([server.drawer.asked, leftovers(server)]).toEqual([[], []]);
});
