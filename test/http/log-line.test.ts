// What a request writes to the log.

import { describe, expect, test } from "bun:test";
import { until } from "../support/until.ts";
import { hello, messages, serve } from "./harness.ts";
import { RawClient } from "./raw.ts";

const path = "/v1/chat/completions";

describe("the log line", () => {
  test("of an unknown route has the nearest one, and nothing of the path", async () => {
    const server = serve();
    for (const where of ["/zz/v1/chat/completions", "/zz"]) await (await fetch(server.url + where)).text();
    await until(() => server.log.lines.length === 2);
    expect(server.log.lines.map(({ fields }) => [fields["route"], fields["nearest"]])).toEqual([
      ["unknown", path],
      ["unknown", undefined],
    ]);
    expect(JSON.stringify(server.log.lines)).not.toContain("zz");
  });

  test("is written once, at the end of the response, with counts and without text", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ text: "generated" }, { wait: gate.promise }] });
    const response = await server.chat({ stream: true }, { "x-request-id": "logged" });
    expect(server.log.lines).toBeEmpty();
    expect(server.metrics.connections).toBe(1);
    gate.resolve();
    await response.text();
    await until(() => server.metrics.connections === 0);
    expect(server.log.lines).toEqual([
      {
        level: "info",
        message: "request",
        fields: {
          id: "logged",
          method: "POST",
          route: path,
          status: 200,
          client: "127.0.0.1",
          ms: expect.any(Number),
          model: "fake-model",
          finish: "stop",
          prompt: 12,
          cached: 4,
          completion: 1,
          ttft_ms: expect.any(Number),
          tok_s: 0,
        },
      },
    ]);
  });

  test("of work in the background is followed by one about its end", async () => {
    const gate = Promise.withResolvers<void>();
    const server = serve({ steps: [{ text: "generated" }, { wait: gate.promise }] });
    const lines = () => server.log.lines.map(({ message, fields }) => [message, fields["id"], fields["finish"]]);
    await server.post("/v1/responses", { input: "hi", background: true }, { "x-request-id": "r" });
    await until(() => lines().length === 1);
    expect(lines()).toEqual([["request", "r", undefined]]);
    gate.resolve();
    await until(() => lines().length === 2);
    expect(server.log.lines[1]).toMatchObject({
      level: "info",
      message: "response",
      fields: { id: "r", client: "127.0.0.1", model: "fake-model", finish: "stop", prompt: 12, completion: 1 },
    });
    const stream = { input: "hi", background: true, stream: true };
    await (await server.post("/v1/responses", stream, { "x-request-id": "s" })).text();
    await until(() => server.metrics.connections === 0);
    await Bun.sleep(20);
    expect(lines().slice(2)).toEqual([["request", "s", "stop"]]);
  });

  test("names the route instead of the path, and reports a client that disconnected", async () => {
    const server = serve({ steps: [{ wait: new Promise(() => {}) }] });
    await fetch(`${server.url}/some/secret`);
    await server.post(`${path}/some-id/cancel`, "");
    const client = await RawClient.connect(server.port);
    client.post(path, JSON.stringify({ messages }));
    await until(() => server.engine.live === 1);
    client.leave();
    await until(() => server.log.lines.length === 3);
    expect(server.log.lines.map(({ fields }) => [fields["route"], fields["status"], fields["finish"]])).toEqual([
      ["unknown", 404, undefined],
      [`${path}/:id/cancel`, 404, undefined],
      [path, 499, "cancelled"],
    ]);
    expect(server.metrics.answered).toEqual(["unknown 404", `${path}/:id/cancel 404`, `${path} 499`]);
  });

  test("of a probe or a page is at debug level, unless it is refused", async () => {
    const server = serve(hello, { apiKeys: [{ name: "ada", key: "k" }] });
    const authorization = "Bearer k";
    for (const where of ["/health", "/metrics", "/v1/requests", "/docs"]) {
      await (await fetch(server.url + where, { headers: { authorization } })).text();
    }
    await fetch(`${server.url}/metrics`);
    await fetch(`${server.url}/v1/models`, { headers: { authorization } });
    await until(() => server.log.lines.length === 6);
    expect(server.log.lines.map(({ level, fields }) => `${level} ${fields["route"]} ${fields["status"]}`)).toEqual([
      "debug /health 200",
      "debug /metrics 200",
      "debug /v1/requests 200",
      "debug /docs 200",
      "info /metrics 401",
      "info /v1/models 200",
    ]);
  });

  test("has the code and the field of a refusal", async () => {
    const server = serve();
    await server.chat({ temperature: "SECRET" });
    await server.chat({ messages: [{ role: "SECRET", content: "x" }] });
    await server.post("/v1/models", {});
    const refusals = server.log.lines.map(({ fields }) => [fields["status"], fields["code"], fields["param"]]);
    expect(refusals).toEqual([
      [400, "invalid_type", "temperature"],
      [400, "invalid_value", "messages.0.role"],
      [405, "method_not_allowed", undefined],
    ]);
    expect(JSON.stringify(server.log.lines)).not.toContain("SECRET");
  });

  test("names the client: by the name that it sends, otherwise by its address", async () => {
    const server = serve();
    for (const name of ["nightly", "not a name"]) await server.chat({}, { "x-svc-client": name });
    expect(server.log.lines.map(({ fields }) => fields["client"])).toEqual(["nightly", "127.0.0.1"]);
  });

  test("contains the kind and place of a bug, whose message appears only at debug level", async () => {
    const server = serve({ steps: [{ text: "a" }, { fail: new TypeError("SECRET prompt") }] });
    for (const stream of [false, true]) await (await server.chat({ stream })).text();
    await until(() => server.metrics.connections === 0);
    const loud = server.log.lines.filter(({ level }) => level !== "debug");
    expect(loud.filter(({ level }) => level === "error")).toHaveLength(2);
    expect(JSON.stringify(loud)).toContain("TypeError");
    expect(JSON.stringify(loud)).not.toContain("SECRET");
  });
});
