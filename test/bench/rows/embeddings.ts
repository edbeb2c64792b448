import { bodyText, exchange } from "../exchange.ts";
import type { Figure, Measurement } from "../measurement.ts";
import type { PromptSource } from "../prompts.ts";

/** Lengths of the inputs in words: most are short, like sentences of a text. */
const LENGTHS = [8, 12, 16, 24, 40, 64] as const;

export interface EmbeddingLoad {
  /** Inputs per request. */
  readonly inputs: number;
  /** Clients that send single inputs one after another, and how many each sends. */
  readonly clients: number;
  readonly each: number;
}

/** Measures embeddings: many inputs at once, and single inputs of several clients. */
export function embeddings({ inputs, clients, each }: EmbeddingLoad): Measurement {
  return {
    id: "embeddings",
    async run(port, prompts) {
      // Loads the model, in case the first request does that.
      await embed(port, [prompts.next(4)]);
      const many = await timed(() => embed(port, texts(prompts, inputs)));
      const singles = await timed(() =>
        Promise.all(
          Array.from({ length: clients }, async () => {
            for (const text of texts(prompts, each)) await embed(port, [text]);
          }),
        ),
      );
      const rate = (count: number, ms: number) => (count / ms) * 1000;
      const wanted = { ratio: { "llama-server": 1 } };
      return [
        {
          label: `1 request with ${inputs} inputs`,
          unit: "req/s",
          better: "higher",
          value: rate(inputs, many),
          wanted,
        },
        {
          label: `${clients} clients with single inputs`,
          unit: "req/s",
          better: "higher",
          value: rate(clients * each, singles),
          wanted,
        },
      ] satisfies Figure[];
    },
  };
}

const texts = (prompts: PromptSource, count: number) =>
  Array.from({ length: count }, (_, at) => prompts.next(LENGTHS[at % LENGTHS.length] ?? 8));

async function embed(port: number, input: readonly string[]): Promise<void> {
  const reply = await exchange(port, { path: "/v1/embeddings", body: { input, encoding_format: "base64" } });
  const text = bodyText(reply);
  if (reply.status !== 200) throw new Error(`status ${reply.status}: ${text.slice(0, 400)}`);
  const { data } = JSON.parse(text) as { readonly data: readonly unknown[] };
  if (data.length !== input.length) throw new Error(`${data.length} vectors instead of ${input.length}`);
}

async function timed(work: () => Promise<unknown>): Promise<number> {
  const started = performance.now();
  await work();
  return performance.now() - started;
}
