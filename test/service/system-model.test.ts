import { describe, expect, test } from "bun:test";
import { FakeEngine } from "../support/fake-text-engine.ts";
import { localRouter } from "../../src/service/local-model.ts";
import { ModelRouter } from "../../src/service/model-router.ts";
import { OfferedModels } from "../../src/service/offered-models.ts";
import { narrowed, SYSTEM_MODEL, systemModel } from "../../src/service/system-model.ts";
import { plainRequest } from "../support/request.ts";

const live = new AbortController().signal;

describe("the system model", () => {
  test("takes temperature, top_p, seed, length, stops, tools and schemas, and ignores the rest", () => {
    const constraint = { schema: { type: "object" }, strict: true, inexpressible: false };
    const kept = { maxTokens: 5, stop: ["x"], constraint };
    const sampling = { temperature: 0.5, topP: 0.9, seed: 7 };
    const asked = plainRequest("hi", {
      ...kept,
      sampling: { ...sampling, topK: 3, minP: 0.1, repetitionPenalty: 1.2, presencePenalty: 1, mirostat: 2 },
      topLogprobs: 2,
      adapters: [{ id: 0, scale: 1 }],
      profile: true,
    });
    expect(narrowed(asked)).toEqual(plainRequest("hi", { ...kept, sampling }));
  });

  test("refuses parameters that would change the answer", () => {
    const grammar = plainRequest("hi", {
      constraint: { grammar: "root ::= [a-z]", strict: false, inexpressible: false },
    });
    expect(() => narrowed(grammar)).toThrow(
      expect.objectContaining({ code: "unsupported_parameter", details: { param: "grammar" } }),
    );
    const source = { kind: "image", url: "data:," } as never;
    const picture = plainRequest("hi", {
      messages: [{ role: "user", content: [{ type: "media", source, param: "messages.0.content.0" }] }],
    });
    expect(() => narrowed(picture)).toThrow(
      expect.objectContaining({ code: "unsupported_parameter", details: { param: "messages" } }),
    );
  });

  test("is listed with the others and answers only to its own name", async () => {
    const main = new FakeEngine(() => ({ steps: [{ text: "main" }] }));
    const own = new FakeEngine(() => ({ steps: [{ text: "system" }] }));
    const system = new OfferedModels([systemModel(own, 2)]);
    const router = localRouter(main, 4, [system]);
    expect(router.models().map(({ id, ownedBy }) => [id, ownedBy])).toEqual([
      ["fake-model", "svc"],
      [SYSTEM_MODEL, "system"],
    ]);
    expect(router.models(true).map(({ id }) => id)).toEqual(["fake-model"]);
    expect(router.models()[1]?.capabilities).not.toContain("logprobs");
    for (const state of ["unloaded", "ready"] as const) {
      own.state = state;
      expect(system.models()[0]?.loaded).toBe(state === "ready");
    }
    expect([router.find(undefined, "chat").model, router.find("other", "chat").model]).toEqual([
      "fake-model",
      "fake-model",
    ]);
    const { engine, model, surface } = router.find(SYSTEM_MODEL, "chat");
    expect(model).toBe(SYSTEM_MODEL);
    const events = await Array.fromAsync(engine.generate(plainRequest("hi", { id: "r" }), live));
    expect(events).toContainEqual({ type: "text", text: "system" });
    expect(surface?.noTokenizer).toMatchObject({ code: "tokenize_unsupported" });
    // The system model alone does not answer requests that name no model.
    expect(() => new ModelRouter([system]).find(undefined, "chat")).toThrow(
      expect.objectContaining({ code: "upstream_unavailable" }),
    );
  });
});
