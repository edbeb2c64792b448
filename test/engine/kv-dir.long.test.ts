// The same as kv-dir.test.ts, where each sequence has cells of its own, a model's state cannot be cut, or adapters come and go.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { makeAdapter } from "../models/make-adapter.ts";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import type { Message } from "../support/logprob-chat.ts";
import { startServer, type ServerProcess } from "../support/server.ts";
import { ask, conversationTests, FLAGS, kvDirRig, metric, user } from "./kv-dir-rig.ts";

setDefaultTimeout(240_000);

const rig = kvDirRig();

describe("streams: a conversation", () => conversationTests(rig, "streams", ["--kv-mode", "streams", "--ctx", "2048"]));

test("a model whose state cannot be cut goes on with whole conversations", async () => {
  const model = makeRecurrentModel(join(import.meta.dir, "../../vendor/.build/models"));
  const folder = join(rig.root, "recurrent");
  const own = [...FLAGS, "--model", model, "--ctx", "2048"];
  const complete = async (server: ServerProcess, prompt: string, max_tokens = 8) => {
    const response = await server.post("/v1/completions", { prompt, max_tokens, temperature: 0, ignore_eos: true });
    const { choices, usage } = (await response.json()) as {
      choices: { text: string }[];
      usage: { prompt_tokens: number; prompt_tokens_details: { cached_tokens: number } };
    };
    return {
      text: choices[0]?.text ?? "",
      prompt: usage.prompt_tokens,
      cached: usage.prompt_tokens_details.cached_tokens,
    };
  };
  const first = await rig.serve([...own, "--kv-dir", folder]);
  const said = "a b c d e f g h ".repeat(40).trim();
  // The one token is sampled and never computed: what is kept ends with the prompt.
  const before = await complete(first, said, 1);
  await first.stop();

  const second = await rig.serve([...own, "--kv-dir", folder]);
  const reference = await rig.serve([...own, "--no-prefix-cache"]);
  const held = await metric(second, "svc_kv_disk_tokens");
  expect(held).toBe(before.prompt);
  const branch = said.slice(0, -8);
  expect(await complete(second, branch)).toEqual(await complete(reference, branch));
  const next = `${said} x y z`;
  const [after, cold] = [await complete(second, next), await complete(reference, next)];
  expect(after).toEqual({ ...cold, cached: held });
  await second.stop();
  await reference.stop();
});

test("nothing computed with adapters serves others, over restarts with other --lora flags", async () => {
  const folder = join(rig.root, "adapters");
  const [a, b, c] = [1, 2, 3].map((seed) => makeAdapter(rig.root, seed));
  // What it makes up differs with the adapters.
  const system: Message = { role: "system", content: "You are a helpful assistant. ".repeat(60) };
  const messages = [system, user("Tell me a story.")];
  const run = async (lora: readonly string[], asks: readonly object[]) => {
    const adapted = lora.flatMap((one) => ["--lora", one]);
    const server = await startServer([...FLAGS, "--ctx", "4096", "--kv-dir", folder, ...adapted]);
    const answers = [];
    for (const fields of asks) answers.push(await ask(server, messages, { max_tokens: 40, ...fields }));
    await server.stop();
    return answers;
  };
  const fields = (id: number, scale: number) => ({ lora: [{ id, scale }] });

  const sets = [{}, { model: "tone" }, fields(0, 0.5)];
  // Twice: what was computed in a batch of the same shape is the same to the last bit.
  const first = await run([`tone=${a}`, `style=${b}`], [...sets, ...sets]);
  const [base, tone, half] = first.slice(sets.length);
  if (!base || !tone || !half) throw new Error("no answers");
  const all = base.prompt - 1;
  expect(first.map(({ cached }) => cached)).toEqual([0, 0, 0, all, all, all]);
  expect(new Set([base, tone, half].map(({ text }) => text)).size).toBe(3);

  // Other numbers: what was 0 is 1.
  const turned = await run([`style=${b}`, `tone=${a}`], [{ model: "tone" }, fields(1, 0.5), fields(0, 1), {}]);
  expect(turned.map(({ cached }) => cached)).toEqual([all, all, 0, all]);
  expect([turned[0], turned[1], turned[3]]).toEqual([tone, half, base]);

  // Another file under the name and the number; no adapter at all.
  const [replaced] = await run([`tone=${c}`], [{ model: "tone" }]);
  expect(replaced?.cached).toBe(0);
  expect(await run([], [{}])).toEqual([base]);
});
