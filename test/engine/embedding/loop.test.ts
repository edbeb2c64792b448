// Which requests fail with an input that cannot be computed.

import { expect, test } from "bun:test";
import type { Embedder, LoadedEmbedder } from "../../../ffi/llama/embedder.ts";
import { EmbeddingLoop } from "../../../src/engine/embedding/child/loop.ts";
import type { FromEmbedder } from "../../../src/engine/embedding/protocol.ts";
import { nextTurn } from "../../../src/domain/next-turn.ts";

test("a request with an input that cannot be computed fails alone, not with those computed beside it", async () => {
  const embedder = {
    model: () => ({ vocabulary: 1000, stripsAccents: false, dimensions: 1, sequences: 8 }) as LoadedEmbedder,
    tokenize: (text: string) => Int32Array.of(...Buffer.from(text)),
    embed(inputs: readonly Int32Array[]) {
      if (inputs.some(([first]) => first === "!".charCodeAt(0))) throw new Error("no number");
      return Float32Array.from(inputs, ([first]) => first ?? 0);
    },
  } satisfies Partial<Embedder> as unknown as Embedder;
  const told: FromEmbedder[] = [];
  const loop = new EmbeddingLoop(embedder, { maxTokens: 16 }, (message) => told.push(message));
  for (const [key, inputs] of [["a", "b"], ["c", "!"], ["d"]].entries()) {
    loop.submit(key, { work: { kind: "embed", inputs } });
  }
  await nextTurn();
  for (let step = 0; step < 5; step++) loop.step();
  const results = told.flatMap((message) => (message.type === "events" ? message.finished : []));
  const values = results.map(({ key, event }) => [key, event.type === "result" ? [...event.result.values] : event]);
  expect(new Map(values as [number, unknown][])).toEqual(
    new Map([
      [0, [97, 98]],
      [2, [100]],
    ]),
  );
  expect(told.filter(({ type }) => type === "rejected")).toMatchObject([{ key: 1, code: "internal_error" }]);
});
