import { expect, test } from "bun:test";
import type { ListedModel } from "../../src/domain/model.ts";
import { FakeEmbedder } from "../support/fake-embedding-engine.ts";
import { FakeEngine } from "../support/fake-text-engine.ts";
import { localRouter } from "../../src/service/local-model.ts";
import { ModelRouter, type ModelSource, type Served } from "../../src/service/model-router.ts";

const engine = new FakeEngine(() => ({ steps: [] }));

function source(...models: (Partial<ListedModel> & { id: string })[]): ModelSource {
  const served = new Map(models.map(({ id }): [string, Served] => [id, { chat: { model: id, engine, parallel: 1 } }]));
  const common = { created: 1, ownedBy: "other", loaded: false, capabilities: ["chat"] };
  return { models: () => models.map((model) => ({ ...common, ...model })), find: (id) => served.get(id) };
}

test("a request goes to the model that it names, otherwise to the active model", () => {
  const router = localRouter(engine, 4, [source({ id: "far" })]);
  expect(router.find("far", "chat").model).toBe("far");
  expect(router.find("fake-model", "chat").model).toBe("fake-model");
  for (const name of [undefined, "gpt-4o"]) expect(router.find(name, "chat").model).toBe("fake-model");
  expect(router.find("far", "chat")).toBe(router.find("far", "chat"));
});

test("a name that leaves parts out means a model only if no source has a model of exactly this name", () => {
  const short: ModelSource = { ...source({ id: "maker/near:Q8_0" }), fullName: () => "maker/near:Q8_0" };
  const router = localRouter(engine, 4, [short, source({ id: "near" })]);
  expect(router.find("near", "chat").model).toBe("near");
  expect(router.find("maker/near", "chat").model).toBe("maker/near:Q8_0");
  expect(router.find(undefined, "chat").model).toBe("fake-model");
  expect(router.describe("maker/near", ["chat"], router.models())?.id).toBe("maker/near:Q8_0");
});

test("without an active model the first chat model answers, and unknown names are refused", () => {
  const router = new ModelRouter([source({ id: "vectors", capabilities: ["embeddings"] }), source({ id: "far" })]);
  expect(router.find(undefined, "chat").model).toBe("far");
  expect(() => router.find("gpt-4o", "chat")).toThrow(expect.objectContaining({ code: "model_not_found" }));
  expect(() => new ModelRouter([]).find(undefined, "chat")).toThrow(
    expect.objectContaining({ code: "upstream_unavailable", message: expect.stringContaining("--pulled-models") }),
  );
});

test("without a name, vectors come from the first local model that makes them, and a refusal names all such models", () => {
  const vectors = (id: string, more: Partial<ListedModel> = {}): ModelSource => {
    const embedder = new FakeEmbedder(id);
    return {
      models: () => source({ id, capabilities: ["embeddings"], ...more }).models(),
      find: (name) => (name === id ? { embeddings: { model: id, engine: embedder, parallel: 1 } } : undefined),
    };
  };
  const router = new ModelRouter([
    vectors("far", { loaded: true, remote: true }),
    source({ id: "chatty" }),
    vectors("first"),
    vectors("second", { loaded: true }),
  ]);
  expect(router.find(undefined, "embeddings").model).toBe("first");
  expect(router.find("far", "embeddings").model).toBe("far");
  const refusal = (message: string) => expect.objectContaining({ code: "model_not_found", message });
  expect(() => router.find("chatty", "embeddings")).toThrow(
    refusal("There is no embedding model of this name. Served: first, second."),
  );
  expect(() => router.find(undefined, "rerank")).toThrow(
    refusal("There is no reranker. Start svc with --rerank-model to serve one."),
  );
});

test("an embedding model is found by a prefix of its name, with or without a tag, when only one model matches", () => {
  const vectors = (id: string): ModelSource => ({
    models: () => source({ id, capabilities: ["embeddings"] }).models(),
    find: (name) =>
      name === id ? { embeddings: { model: id, engine: new FakeEmbedder(id), parallel: 1 } } : undefined,
  });
  const router = new ModelRouter([vectors("all-MiniLM-L6-v2"), vectors("nomic-a"), vectors("nomic-b")]);
  for (const name of [
    "all-minilm",
    "all-minilm:latest",
    "all-MiniLM:33m",
    "all-minilm-l6-v2",
    "All-MiniLM-L6-v2:latest",
  ]) {
    expect(router.find(name, "embeddings").model).toBe("all-MiniLM-L6-v2");
  }
  for (const name of ["nomic", "all", "mini", ":latest", ""]) {
    const found = () => router.find(name, "embeddings").model;
    if (name === "all") expect(found()).toBe("all-MiniLM-L6-v2");
    else expect(found).toThrow(expect.objectContaining({ code: "model_not_found" }));
  }
});

test("a whole name in other letters is no prefix of a longer one", () => {
  const vectors = (id: string): ModelSource => ({
    models: () => source({ id, capabilities: ["embeddings"] }).models(),
    find: (name) =>
      name === id ? { embeddings: { model: id, engine: new FakeEmbedder(id), parallel: 1 } } : undefined,
  });
  const router = new ModelRouter([vectors("Nomic"), vectors("Nomic-v2"), vectors("nomic-v1")]);
  for (const name of ["nomic", "NOMIC:latest"]) expect(router.find(name, "embeddings").model).toBe("Nomic");
});

test("without an image model, a request for any name is told which option sets one", () => {
  for (const name of [undefined, "dall-e-2"]) {
    expect(() => new ModelRouter([]).find(name, "images")).toThrow(
      expect.objectContaining({ code: "engine_unavailable", message: expect.stringContaining("--image-model") }),
    );
  }
});

test("the list has each name once, loaded models first, otherwise in the order of the sources", () => {
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
