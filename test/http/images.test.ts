// POST /v1/images/generations and related routes, with images from an engine in memory.

import { describe, expect, test } from "bun:test";
import { Images } from "../../src/contract/images.ts";
import { checker } from "../../src/contract/schema.ts";
import { SvcError } from "../../src/domain/errors.ts";
import { OfferedModels, offeredImages } from "../../src/service/offered-models.ts";
import { FakeDrawer } from "../support/fake-image-engine.ts";
import { errorOf, fault } from "../support/fault.ts";
import { serverSentEvents } from "../support/streams/events.ts";
import { until } from "../support/until.ts";
import { expectGolden } from "./golden.ts";
import { serve, type TestServer } from "./harness.ts";

const PATH = "/v1/images/generations";
const id = { "x-request-id": "golden" };
const prompt = "a red circle";
const crashed = new SvcError("engine_crashed", "The image engine stopped while computing this request.");
const HOUR_MS = 3_600_000;

type Answer = { data: { b64_json?: string; url?: string; seed: number }[]; size: string };

const decoded = (base64: string | undefined) => Buffer.from(base64 ?? "", "base64").toString();
const eventsOf = async (response: Response) =>
  serverSentEvents(await response.text()).map(({ data }) => JSON.parse(data) as Record<string, unknown>);

describe("answers", () => {
  test("contain the images and forbid caching", async () => {
    const response = await serve().post(PATH, { prompt, n: 2, seed: 7, size: "256x512" }, id);
    expect([response.status, response.headers.get("cache-control")]).toEqual([200, "no-store"]);
    const text = await response.text();
    checker(Images)(JSON.parse(text));
    await expectGolden("images.json", text);
    expect((JSON.parse(text) as Answer).data.map(({ b64_json }) => decoded(b64_json))).toEqual(["image 7", "image 8"]);
  });

  test("may be large, on either route", async () => {
    const { post, drawer } = serve();
    drawer.draw = (seed) => new Uint8Array(1_000_000).fill(seed);
    const same = (files: readonly (string | undefined)[]) =>
      files.map((file) => new Set(Buffer.from(file ?? "", "base64"))).map((all) => [...all]);
    const { data } = (await (await post(PATH, { prompt, n: 3, seed: 7 })).json()) as Answer;
    expect(same(data.map(({ b64_json: file }) => file))).toEqual([[7], [8], [9]]);
    expect(data.map(({ seed }) => seed)).toEqual([7, 8, 9]);
    const other = await post("/sdapi/v1/txt2img", { prompt, n_iter: 2, seed: 7 });
    expect(same(((await other.json()) as { images: string[] }).images)).toEqual([[7], [8]]);
  });

  test("are an error for more images than allowed", async () => {
    await expectGolden("images-refused.json", await (await serve().post(PATH, { prompt, n: 11 }, id)).text());
  });

  test("follow the fields of the request, and the model's defaults for the rest", async () => {
    const { post, drawer } = serve();
    const asked = {
      prompt,
      n: 3,
      size: "64x2048",
      seed: 2 ** 32 - 3,
      steps: 150,
      cfg_scale: 7.5,
      negative_prompt: "blue",
      sampler: "euler_a",
      scheduler: "simple",
      lora: [{ name: "ink", scale: 0.5 }, { name: "oil" }],
      output_format: "webp",
      output_compression: 40,
      background: "opaque",
      moderation: "low",
      user: "7",
      style: null,
      quality: "auto",
      metadata: false,
    };
    expect((await post(PATH, asked, { "x-svc-client": "ada" })).status).toBe(200);
    expect(drawer.asked[0]).toEqual({
      prompt,
      negativePrompt: "blue",
      size: { width: 64, height: 2048 },
      count: 3,
      seed: 2 ** 32 - 3,
      steps: 150,
      guidance: 7.5,
      sampler: "euler_a",
      scheduler: "simple",
      adapters: [
        { name: "ink", scale: 0.5 },
        { name: "oil", scale: 1 },
      ],
      previews: 0,
      encoding: { format: "webp", quality: 40, withParameters: false },
      client: "ada",
      files: [],
    });
    await post(PATH, { prompt, size: "auto" });
    const { seed = -1, client: _, ...usual } = drawer.asked[1] ?? {};
    expect(usual).toEqual({
      prompt,
      count: 1,
      previews: 0,
      encoding: { format: "png", withParameters: true },
      files: [],
    });
    expect(seed).toBeWithin(0, 2 ** 32);
  });

  test.each([
    ["low", 0.5, "low"],
    ["medium", undefined, "medium"],
    ["standard", undefined, "medium"],
    ["auto", undefined, "medium"],
    ["high", 2, "high"],
    ["hd", 2, "high"],
    ["xhigh", 2, "high"],
    ["max", 2, "high"],
  ])("quality %s is %p times the model's steps", async (quality, share, told) => {
    const { post, drawer } = serve();
    const answer = (await (await post(PATH, { prompt, quality })).json()) as { quality?: string };
    expect([drawer.asked[0]?.stepShare, answer.quality]).toEqual([share, told]);
  });

  test("a name that is not an image model gets the default model, and headers report it", async () => {
    const second = new FakeDrawer("second");
    const { post, drawer } = serve(undefined, {}, [new OfferedModels([offeredImages(second)])]);
    const headers = async (model?: string) => {
      const response = await post(PATH, { prompt, model });
      const { headers: given } = response;
      return [given.get("x-svc-compatibility"), given.get("x-svc-emulated-parameters")];
    };
    expect(await headers("dall-e-2")).toEqual(["emulated", "model"]);
    expect(await headers("fake-model")).toEqual(["emulated", "model"]);
    expect(await headers("fake-drawer")).toEqual([null, null]);
    expect(await headers()).toEqual([null, null]);
    expect(await headers("second")).toEqual([null, null]);
    expect([drawer.asked.length, second.asked.length]).toEqual([4, 1]);
  });

  test("a failure has its own status code", async () => {
    const { post, drawer } = serve();
    drawer.refusal = new SvcError("unsupported_parameter", "'lora' is not for this model.", { param: "lora" });
    expect(await fault(await post(PATH, { prompt }))).toEqual([400, "unsupported_parameter", "lora"]);
    drawer.refusal = undefined;
    drawer.failure = crashed;
    expect(await fault(await post(PATH, { prompt, n: 2 }))).toEqual([500, "engine_crashed", null]);
  });
});

describe("refuses and names the field", () => {
  const wrong: readonly (readonly [object, string])[] = [
    [{}, "prompt"],
    [{ prompt: "" }, "prompt"],
    [{ prompt: " \n " }, "prompt"],
    [{ prompt: "a".repeat(32_001) }, "prompt"],
    [{ prompt: ["a"] }, "prompt"],
    [{ prompt, n: 0 }, "n"],
    [{ prompt, n: 11 }, "n"],
    [{ prompt, n: 1.5 }, "n"],
    [{ prompt, size: "big" }, "size"],
    [{ prompt, size: "48x64" }, "size"],
    [{ prompt, size: "64x2064" }, "size"],
    [{ prompt, size: "100x64" }, "size"],
    [{ prompt, size: "64x64x64" }, "size"],
    [{ prompt, quality: "best" }, "quality"],
    [{ prompt, quality: "high", steps: 3 }, "quality"],
    [{ prompt, response_format: "file" }, "response_format"],
    [{ prompt, response_format: "url", stream: true }, "response_format"],
    [{ prompt, output_format: "gif" }, "output_format"],
    [{ prompt, output_compression: 50 }, "output_compression"],
    [{ prompt, output_format: "jpeg", output_compression: 101 }, "output_compression"],
    [{ prompt, output_format: "jpeg", output_compression: -1 }, "output_compression"],
    [{ prompt, background: "transparent" }, "background"],
    [{ prompt, moderation: "off" }, "moderation"],
    [{ prompt, stream: "yes" }, "stream"],
    [{ prompt, partial_images: 4, stream: true }, "partial_images"],
    [{ prompt, partial_images: 1 }, "partial_images"],
    [{ prompt, progress: true }, "progress"],
    [{ prompt, seed: -1 }, "seed"],
    [{ prompt, seed: 2 ** 32 }, "seed"],
    [{ prompt, seed: 2 ** 32 - 1, n: 2 }, "seed"],
    [{ prompt, steps: 0 }, "steps"],
    [{ prompt, steps: 151 }, "steps"],
    [{ prompt, cfg_scale: -0.1 }, "cfg_scale"],
    [{ prompt, cfg_scale: 30.1 }, "cfg_scale"],
    [{ prompt, negative_prompt: 1 }, "negative_prompt"],
    [{ prompt, sampler: "" }, "sampler"],
    [{ prompt, lora: [{ scale: 1 }] }, "lora.0.name"],
    [{ prompt, lora: [{ name: "ink", weight: 1 }] }, "lora.0.weight"],
    [{ prompt, lora: [{ name: "ink", scale: 9 }] }, "lora.0.scale"],
    [{ prompt, style: "vivid" }, "style"],
    [{ prompt, strength: 0.5 }, "strength"],
    [{ prompt, complexity: "low" }, "complexity"],
    [{ prompt, "a secret": 1 }, "…"],
  ];

  test.each(wrong)("%j", async (body, param) => {
    const { post, drawer } = serve();
    const response = await post(PATH, body);
    const error = await errorOf(response);
    expect([response.status, error.param]).toEqual([400, param]);
    expect(error.message).not.toContain("secret");
    expect(drawer.asked).toEqual([]);
  });

  test("a body of more than a megabyte", async () => {
    const response = await serve().post(PATH, { prompt: "a".repeat(1024 * 1024) });
    expect(await fault(response)).toEqual([413, "payload_too_large", null]);
  });
});

describe("a streamed answer", () => {
  test("sends previews of each image, then the complete image", async () => {
    const { post } = serve();
    const asked = { prompt, n: 2, seed: 1, steps: 3, stream: true, partial_images: 1, output_format: "jpeg" };
    const response = await post(PATH, asked, id);
    expect(response.headers.get("content-type")).toBe("text/event-stream");
    expect(response.headers.get("cache-control")).toBe("no-store");
    await expectGolden("images.sse", await response.text());
  });

  test("includes the steps on request", async () => {
    const { post } = serve();
    const told = await eventsOf(await post(PATH, { prompt, stream: true, progress: true }));
    expect(told.map(({ type, step, steps }) => [type, step, steps])).toEqual([
      ["image_generation.progress", 1, 2],
      ["image_generation.progress", 2, 2],
      ["image_generation.completed", undefined, undefined],
    ]);
  });

  test("states the size of the final image in a preview", async () => {
    const { post } = serve();
    const [preview, completed] = await eventsOf(await post(PATH, { prompt, stream: true, partial_images: 3 }));
    expect([preview?.["size"], completed?.["size"]]).toEqual(["128x64", "128x64"]);
  });

  test("ends once, with an error after the images so far", async () => {
    const { post, drawer } = serve();
    drawer.failure = crashed;
    await expectGolden(
      "images-failed.sse",
      await (await post(PATH, { prompt, n: 2, seed: 1, stream: true }, id)).text(),
    );
  });

  test("is a response with its own status code when the request fails before it is accepted", async () => {
    const { post, drawer } = serve();
    drawer.refusal = crashed;
    expect((await post(PATH, { prompt, stream: true })).status).toBe(500);
  });

  test("is sent whole with --no-streaming", async () => {
    const { post } = serve(undefined, { streaming: false });
    expect((await post(PATH, { prompt, stream: true })).headers.get("content-type")).toStartWith("application/json");
  });
});

describe("GET /v1/images/files/{id}", () => {
  async function drawn(server: TestServer, body: object = {}): Promise<string[]> {
    const response = await server.post(PATH, { prompt, response_format: "url", ...body });
    const { data } = (await response.json()) as Answer;
    return data.map(({ url = "" }) => url);
  }

  test("returns the file with its media type for an hour", async () => {
    const server = serve();
    const [first = "", second = ""] = await drawn(server, { n: 2, seed: 5, output_format: "webp" });
    expect(first).toMatch(new RegExp(`^${server.url}/v1/images/files/img_[0-9a-f]{32}$`));
    const { status, headers } = await fetch(first);
    expect([status, headers.get("content-type")]).toEqual([200, "image/webp"]);
    expect([headers.get("x-content-type-options"), headers.get("cache-control")]).toEqual(["nosniff", "no-store"]);
    expect(await (await fetch(second)).text()).toBe("image 6");
    server.clock.pass(HOUR_MS - 60_000);
    expect((await fetch(first)).status).toBe(200);
    server.clock.pass(60_000);
    expect(await fault(await fetch(first))).toEqual([404, "not_found", null]);
  });

  test("has the scheme of a proxy in front of an allowed host, and of no other client", async () => {
    const server = serve(undefined, { allowedHosts: ["ai.example.org"] });
    const address = async (headers: Record<string, string>) => {
      const answer = await server.post(PATH, { prompt, response_format: "url" }, headers);
      return ((await answer.json()) as Answer).data[0]?.url ?? "";
    };
    const forwarded = { "x-forwarded-proto": "https" };
    expect(await address({ host: "ai.example.org", ...forwarded })).toStartWith("https://ai.example.org/v1/images/");
    expect(await address({ host: "ai.example.org" })).toStartWith("http://ai.example.org/v1/images/");
    expect(await address({ host: "ai.example.org", "x-forwarded-proto": "file" })).toStartWith("http://");
    expect(await address(forwarded)).toStartWith(`${server.url}/v1/images/`);
  });

  test("requires an API key like the other routes", async () => {
    const server = serve(undefined, { apiKeys: [{ name: "ada", key: "secret" }] });
    const headers = { authorization: "Bearer secret" };
    const answer = await server.post(PATH, { prompt, response_format: "url" }, headers);
    const [{ url = "" } = {}] = ((await answer.json()) as Answer).data;
    expect((await fetch(url)).status).toBe(401);
    expect((await fetch(url, { headers })).status).toBe(200);
    expect((await fetch(url, { headers: { ...headers, "sec-fetch-site": "cross-site" } })).status).toBe(403);
  });

  test("is 404 for an unknown id", async () => {
    const { url } = serve();
    for (const other of ["img_0", "..", "%00"]) {
      expect((await fetch(`${url}/v1/images/files/${other}`)).status).toBe(404);
    }
  });
});

describe("while an image is generated", () => {
  const never = new Promise(() => {});

  test("a deadline ends the request, even after the first steps", async () => {
    const { post, drawer, clock, requests } = serve();
    const steps = [Promise.resolve(), never];
    Object.defineProperty(drawer, "gate", { get: () => steps.shift() });
    const answer = post(PATH, { prompt }, { "x-svc-deadline-ms": "60000", "x-request-id": "late" });
    await until(() => requests.history.progressOf("late")?.step === 1);
    clock.pass(60_000);
    expect(await fault(await answer)).toEqual([504, "deadline_exceeded", null]);
    expect(requests.history.progressOf("late")).toBeUndefined();
  });

  test("a request that finds the queue full gets a Retry-After from the engine's estimate", async () => {
    const { post, drawer, requests } = serve(undefined, { maxQueue: 0 });
    drawer.gate = never;
    drawer.placeFreeMs = () => 27_000;
    void post(PATH, { prompt }).catch(() => {});
    await until(() => requests.activeCount === 1);
    const refused = await post(PATH, { prompt });
    expect([refused.status, refused.headers.get("retry-after")]).toEqual([503, "27"]);
    expect(await fault(refused)).toEqual([503, "server_busy", null]);
    requests.cancelAll();
    await until(() => requests.activeCount === 0);
  });

  test("requests are counted, and stopping the server cancels them", async () => {
    const { post, drawer, requests, metrics } = serve();
    await post(PATH, { prompt });
    drawer.gate = never;
    const answer = post(PATH, { prompt });
    await until(() => requests.activeCount === 1);
    const drained = requests.drain();
    expect(await fault(await post(PATH, { prompt }))).toEqual([503, "shutting_down", null]);
    requests.cancelAll();
    expect(await fault(await answer)).toEqual([503, "shutting_down", null]);
    await drained;
    expect(metrics.calls).toEqual([
      "image started",
      "image finished stop",
      "image started",
      "image failed shutting_down",
    ]);
  });
});

describe("GET /v1/models", () => {
  interface Listing {
    readonly data: { id: string; loaded: boolean }[];
    readonly models: { name: string; capabilities: string[]; description?: string; demonstration?: boolean }[];
  }
  const listing = async ({ url }: TestServer) => {
    const { data, models } = (await (await fetch(`${url}/v1/models`)).json()) as Listing;
    const is = "fake-drawer";
    return { loaded: data.find((one) => one.id === is)?.loaded, ...models.find(({ name }) => name === is) };
  };

  test("reports what an image model can do, whether it is loaded, and whether it is a demonstration model", async () => {
    const server = serve();
    expect(await listing(server)).toMatchObject({ loaded: false, capabilities: ["images", "image_edits"] });
    await server.post(PATH, { prompt });
    expect(await listing(server)).toMatchObject({ loaded: true, description: "Fake diffusion" });
    expect(await listing(server)).not.toHaveProperty("demonstration");
    server.drawer.isDemo = true;
    expect(await listing(server)).toMatchObject({ demonstration: true });
  });
});

test("POST /v1/images/variations is always refused", async () => {
  const response = await fetch(`${serve().url}/v1/images/variations`, { method: "POST", body: new FormData() });
  expect(response.headers.get("x-should-retry")).toBe("false");
  expect(await fault(response)).toEqual([501, "mode_unavailable", null]);
});
