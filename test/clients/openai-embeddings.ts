// The TypeScript SDK: embeddings, which it requests in base64 by default.

import { check, equal, ok } from "./checks.ts";
import { failure, type Sdk } from "./sdk.ts";

const cosine = (a: readonly number[], b: readonly number[]) =>
  a.reduce((sum, value, at) => sum + value * (b[at] ?? 0), 0);

/** Registers the checks. */
export async function embeddingChecks({ OpenAI, client }: Sdk): Promise<void> {
  const model = "all-minilm-l6-v2";
  const embed = (input: string | string[] | number[], extra: object = {}) =>
    client.embeddings.create({ model, input, ...extra });

  await check("embeddings are unit vectors, near for near meanings", async () => {
    const { data, usage } = await embed([
      "The sky is blue.",
      "The heavens are azure.",
      "Two carpenters sell wooden chairs.",
    ]);
    const [sky = [], heavens = [], chairs = []] = data.map(({ embedding }) => embedding);
    equal(sky.length, 384);
    ok(Math.abs(cosine(sky, sky) - 1) < 1e-4, "not of length 1");
    ok(cosine(sky, heavens) > cosine(sky, chairs), "meanings are not told apart");
    ok(usage.prompt_tokens > 10 && usage.total_tokens === usage.prompt_tokens, JSON.stringify(usage));
  });

  await check("embeddings as base64, the SDK's default, and as floats are the same", async () => {
    const [usual, floats] = [
      await embed("The sky is blue."),
      await embed("The sky is blue.", { encoding_format: "float" }),
    ];
    const [a = [], b = []] = [usual.data[0]?.embedding, floats.data[0]?.embedding];
    ok(a.length === 384 && a.every((value, at) => Math.abs(value - (b[at] ?? 9)) < 1e-6), "they differ");
  });

  await check("embeddings have as many dimensions as asked for", async () => {
    equal((await embed("The sky is blue.", { dimensions: 64 })).data[0]?.embedding.length, 64);
  });

  await check("an unknown embedding model is a NotFoundError, too many dimensions a BadRequestError", async () => {
    const unknown = await failure(() => embed("a", { model: "nobody" }), OpenAI.APIError);
    ok(unknown instanceof OpenAI.NotFoundError, unknown.message);
    const large = await failure(() => embed("a", { dimensions: 385 }), OpenAI.APIError);
    ok(large instanceof OpenAI.BadRequestError, large.message);
  });
}
