import { expect, test } from "bun:test";
import type { ListedModel } from "../../src/domain/model.ts";
import { FakeEngine } from "../support/fake-text-engine.ts";
import { localRouter } from "../../src/service/local-model.ts";
import { ModelRouter, type ModelSource, type Served } from "../../src/service/model-router.ts";

const engine = new FakeEngine(() => ({ steps: [] }));

function source(...models: (Partial<ListedModel> & { id: string })[]): ModelSource {
  const served = new Map(models.map(({ id }): [string, Served] => [id, { chat: { model: id, engine, parallel: 1 } }]));
  const common = { created: 1, ownedBy: "other", loaded: false, capabilities: ["chat"] };
  return { models: () => models.map((model) => ({ ...common, ...model })), find: (id) => served.get(id) };
}

test("a request goes to the model that it names, else to the active one", () => {
  const router = localRouter(engine, 4, [source({ id: "far" })]);
  expect(router.find("far", "chat").model).toBe("far");
  expect(router.find("fake-model", "chat").model).toBe("fake-model");
  for (const name of [undefined, "gpt-4o"]) expect(router.find(name, "chat").model).toBe("fake-model");
  expect(router.find("far", "chat")).toBe(router.find("far", "chat"));
});

test("without an active model the first that can chat answers, and unknown names are refused", () => {
  const router = new ModelRouter([source({ id: "vectors", capabilities: ["embeddings"] }), source({ id: "far" })]);
  expect(router.find(undefined, "chat").model).toBe("far");
  expect(() => router.find("gpt-4o", "chat")).toThrow(expect.objectContaining({ code: "model_not_found" }));
  expect(() => new ModelRouter([]).find(undefined, "chat")).toThrow(
    expect.objectContaining({ code: "upstream_unavailable" }),
  );
});

test("the list has each name once, what is loaded first, otherwise the order of the sources", () => {
  const router = new ModelRouter([
    source({ id: "a" }, { id: "b", loaded: true, ownedBy: "first" }),
    source({ id: "b", ownedBy: "second" }, { id: "c" }, { id: "d", loaded: true }),
  ]);
  expect(router.models().map(({ id, ownedBy }) => `${id} ${ownedBy}`)).toEqual([
    "b first",
    "d other",
    "a other",
    "c other",
  ]);
});
