// The X-Svc-Profile header: the cost of a request on this machine.

import { describe, expect, test } from "bun:test";
import { ChatCompletion, ChatProfileEvent } from "../../src/contract/chat.ts";
import { checker } from "../../src/contract/schema.ts";
import type { Profile } from "../../src/domain/profile.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { expectGolden } from "../http/golden.ts";
import { hello, serve } from "../http/harness.ts";
import type { OpenApiDocument } from "../../src/http/openapi/document.ts";
import { errorOf } from "../support/fault.ts";
import { until } from "../support/until.ts";

const GIB = 1024 ** 3;
const nothing = { gpuShare: null, gpuWatts: null, cpuWatts: null, dramWatts: null, bandwidth: null };
const profile: Profile = {
  chip: "Some GPU",
  weightsBytes: 7 * GIB,
  kvBytes: GIB / 8,
  peakBandwidth: 1008e9,
  bandwidth: 712.346e9,
  gpuWatts: { mean: 301.26, peak: 350 },
  gpuSamples: 1,
  cpuWatts: 45.04,
  dramWatts: null,
  cpuShare: 0.1234,
  samples: [
    { ms: 100.04, ...nothing, cpuShare: 0.5, systemCpuShare: 0.75, residentBytes: GIB },
    {
      ms: 300,
      bandwidth: 700e9,
      gpuShare: 0.99,
      gpuWatts: 350.04,
      cpuShare: 0.1,
      systemCpuShare: 0.2,
      cpuWatts: 45.04,
      dramWatts: 3,
      residentBytes: 1.5 * GIB,
    },
  ],
};
const profiled: FakeScript = { ...hello, finish: { profile } };
const asked = (value: string) => ({ "x-request-id": "golden", "x-svc-profile": value });

describe.each(["true", "extended"])("a profile, %s", (detail) => {
  const key = detail === "true" ? "svc_profile" : "svc_profile_extended";
  const name = detail === "true" ? "chat-profile" : "chat-profile-extended";

  test("is part of the JSON answer", async () => {
    const server = serve(profiled);
    const text = await (await server.chat({}, asked(detail))).text();
    expect(checker(ChatCompletion)(JSON.parse(text))[key]).toBeDefined();
    expect(server.engine.requests[0]?.profile).toBe(true);
    await expectGolden(`${name}.json`, text);
  });

  test("is the event between usage and terminator, in upper or lower case", async () => {
    const text = await (await serve(profiled).chat({ stream: true }, asked(detail.toUpperCase()))).text();
    const events = text.trimEnd().split("\n\n");
    const event = JSON.parse(String(events.at(-2)?.slice("data: ".length)));
    expect(Object.keys(checker(ChatProfileEvent)(event))).toEqual([key]);
    expect(events.at(-3)).toContain('"usage":');
    await expectGolden(`${name}.sse`, text);
  });

  test("is sent even without usage", async () => {
    const body = { stream: true, stream_options: { include_usage: false } };
    const text = await (await serve(profiled).chat(body, asked(detail))).text();
    expect(text).not.toContain('"usage"');
    expect(text.trimEnd().split("\n\n").at(-2)).toStartWith(`data: {"${key}":`);
  });

  test("shows small bandwidths instead of rounding them to 0", async () => {
    const slow = { ...profile, bandwidth: 1_234_567, samples: [{ ...profile.samples[1], bandwidth: 1_234_567 }] };
    const server = serve({ ...hello, finish: { profile: slow as Profile } });
    const answer = await (await server.chat({}, asked(detail))).json();
    const summary = { est_bandwidth_gbs: 0.0012346 };
    const told = detail === "true" ? summary : { summary, samples: [{ bw_gbs: 0.0012346 }] };
    expect(answer).toMatchObject({ [key]: told });
  });

  test("is sent once for several choices", async () => {
    const text = await (await serve(profiled).chat({ stream: true, n: 3 }, asked(detail))).text();
    expect(text.split(`"${key}"`)).toHaveLength(2);
  });

  test("has null values for a request that was never computed", async () => {
    const server = serve({ steps: [{ wait: new Promise(() => {}) }] });
    const pending = server.chat({}, asked(detail));
    await until(() => server.engine.live === 1);
    await server.post("/v1/chat/completions/golden/cancel", "");
    const answer = checker(ChatCompletion)(await (await pending).json());
    const summary = answer.svc_profile ?? answer.svc_profile_extended?.summary;
    expect(summary).toMatchObject({ chip: null, gpu_power_avg_w: null, est_bandwidth_gbs: null, decode_tok_s: null });
  });

  test("is not sent with a cancelled stream", async () => {
    const server = serve({ steps: [{ text: "a" }, { wait: new Promise(() => {}) }] });
    const pending = server.chat({ stream: true }, asked(detail));
    await until(() => server.engine.live === 1);
    await server.post("/v1/chat/completions/golden/cancel", "");
    const text = await (await pending).text();
    expect(text).toContain('"finish_reason":"cancelled"');
    expect(text).not.toContain("svc_profile");
  });
});

test("without the header nothing is measured or reported", async () => {
  const server = serve(hello);
  expect(await (await server.chat({})).text()).not.toContain("svc_profile");
  expect(server.engine.requests[0]).not.toHaveProperty("profile");
});

test("another value is refused without repeating it, before the body is read", async () => {
  for (const value of ["SECRET", "", "false", "1"]) {
    const response = await serve().post("/v1/chat/completions", "{", asked(value));
    const error = await errorOf(response);
    expect([response.status, error.code, error.param]).toEqual([400, "invalid_value", "X-Svc-Profile"]);
    expect(error.message).toEndWith(`must be one of true, extended; got a string of length ${value.length}.`);
  }
});

test("other routes ignore the header, whatever its value", async () => {
  const server = serve(profiled);
  const rows = [
    ["/v1/completions", { prompt: "hi" }],
    ["/v1/messages", { messages: [{ role: "user", content: "hi" }], max_tokens: 5 }],
    ["/v1/responses", { input: "hi" }],
    ["/api/chat", { model: "m", messages: [{ role: "user", content: "hi" }], stream: false }],
  ] as const;
  for (const value of ["true", "nonsense"]) {
    for (const [path, body] of rows) {
      const response = await server.post(path, body, asked(value));
      expect([path, response.status]).toEqual([path, 200]);
      expect(await response.text()).not.toContain("svc_profile");
    }
  }
});

test("the API description has the header and the event", async () => {
  const document = (await (await fetch(`${serve().url}/openapi.json`)).json()) as OpenApiDocument;
  const parameters = document.paths["/v1/chat/completions"]?.["post"]?.parameters ?? [];
  const header = parameters.find((parameter) => parameter.name === "X-Svc-Profile");
  expect(JSON.stringify(header?.schema)).toContain('"const":"extended"');
  expect(document.components.schemas).toHaveProperty("ChatProfileEvent");
});
