import { expect, test } from "bun:test";
import type { ListedModel } from "../../src/domain/model.ts";
import { FakeEngine } from "../../src/engine/text/fake.ts";
import { localRouter } from "../../src/service/local-model.ts";
import { ModelRouter, type Backend, type ModelSource } from "../../src/service/model-router.ts";

const engine = new FakeEngine(() => ({ steps: [] }));

function source(...models: (Partial<ListedModel> & { id: string })[]): ModelSource {
  const backends = new Map(models.map(({ id }): [string, Backend] => [id, { model: id, engine, parallel: 1 }]));
  const common = { created: 1, ownedBy: "other", loaded: false, capabilities: ["chat"] };
  return { models: () => models.map((model) => ({ ...common, ...model })), find: (id) => backends.get(id) };
}

test("a request goes to the model that it names, else to the active one", () => {
  const router = localRouter(engine, 4, [source({ id: "far" })]);
  expect(router.route("far").model).toBe("far");
  expect(router.route("fake-model").model).toBe("fake-model");
  for (const name of [undefined, "gpt-4o"]) expect(router.route(name).model).toBe("fake-model");
  expect(router.route("far")).toBe(router.route("far"));
});

test("without an active model the first that can chat answers, and unknown names are refused", () => {
  const router = new ModelRouter([source({ id: "vectors", capabilities: ["embeddings"] }), source({ id: "far" })]);
  expect(router.route().model).toBe("far");
  expect(() => router.route("gpt-4o")).toThrow(expect.objectContaining({ code: "model_not_found" }));
  expect(() => new ModelRouter([]).route()).toThrow(expect.objectContaining({ code: "upstream_unavailable" }));
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
