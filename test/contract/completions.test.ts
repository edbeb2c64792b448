// What raw completions do in addition to the recorded answers.

import { describe, expect, test } from "bun:test";
import { expectGolden } from "../http/golden.ts";
import { serve } from "../http/harness.ts";
import { id, json, run } from "./asking.ts";

describe("completions", () => {
  const body = { prompt: "Once", max_tokens: 10, stop: "two" };
  test("stream usage only on request", async () => {
    const text = await (await run("/v1/completions", body, "text", true)).text();
    expect(text).not.toContain('"usage"');
  });

  test("return n answers to each of several prompts, in order, after their prompt with echo", async () => {
    const server = serve((request) => ({ steps: [{ text: ` after ${request.prompt}` }] }));
    const answer = await json(server.post("/v1/completions", { prompt: ["A", "B"], n: 2, echo: true }));
    expect(answer.choices.map(({ text }: { text: string }) => text)).toEqual([
      "A after A",
      "A after A",
      "B after B",
      "B after B",
    ]);
    expect(answer.choices.map(({ index }: { index: number }) => index)).toEqual([0, 1, 2, 3]);
    expect(answer.usage).toMatchObject({ prompt_tokens: 24, completion_tokens: 4 });
    const alone = await json(server.post("/v1/completions", { prompt: "A", max_tokens: 0, echo: true }));
    expect(alone.choices[0]?.text).toBe("A");
    expect(alone.usage).toMatchObject({ prompt_tokens: 12, completion_tokens: 0, total_tokens: 12 });
  });

  test("list the tokens of the prompt before those of the answer, with echo and logprobs", async () => {
    const own = (token: string) => ({ token, id: 1, bytes: [...Buffer.from(token)], logprob: -1, top: [] });
    const promptLogprobs = [
      { ...own("A"), logprob: null },
      { ...own("B"), top: [own("C")] },
    ];
    const server = serve({ steps: [{ text: "x", logprobs: [own("x")] }], finish: { promptLogprobs } });
    const ask = async (body: object) => (await json(server.post("/v1/completions", body))).choices[0];
    const answer = await ask({ prompt: "AB", echo: true, logprobs: 1, max_tokens: 1 });
    expect(answer).toMatchObject({
      text: "ABx",
      logprobs: {
        tokens: ["A", "B", "x"],
        token_logprobs: [null, -1, -1],
        top_logprobs: [null, { B: -1, C: -1 }, { x: -1 }],
        text_offset: [0, 1, 2],
      },
    });
    expect(server.engine.requests[0]).toMatchObject({ promptLogprobs: true, topLogprobs: 1 });
    const alone = await ask({ prompt: [5, 6], echo: true, logprobs: 0, max_tokens: 0 });
    expect(alone).toMatchObject({ text: "AB", logprobs: { tokens: ["A", "B"] } });
  });

  test("give as many answers as one request may have, and refuse one more prompt", async () => {
    const server = serve((request) => ({ steps: [{ text: String(request.prompt) }] }), { maxQueue: 2 });
    const prompts = (count: number) => Array.from({ length: count }, (_, at) => `p${at}`);
    const answer = await json(server.post("/v1/completions", { prompt: prompts(64), n: 4 }));
    expect(answer.choices.map(({ text }) => text)).toEqual(prompts(64).flatMap((text) => [text, text, text, text]));
    const refused = await server.post("/v1/completions", { prompt: prompts(3), n: 128 }, id);
    expect(refused.status).toBe(400);
    await expectGolden("completions-many-refused.json", await refused.text());
  });

  test.each([{ prompt: "a" }, { prompt: [1, 2] }, { prompt: "a", echo: true, logprobs: 1 }])(
    "%j: an empty suffix is as none",
    async (body) => {
      const { post, engine } = serve(undefined, { maxLogprobs: 3 });
      expect((await post("/v1/completions", { ...body, suffix: "" })).status).toBe(200);
      expect(engine.requests[0]?.suffix).toBeUndefined();
    },
  );

  test.each([
    [{ prompt: [] }, "prompt"],
    [{ prompt: "" }, "prompt"],
    [{ prompt: { text: "x" } }, "prompt"],
    [{ prompt: ["a", 5] }, "prompt.1"],
    [{ prompt: [4294967301] }, "prompt.0"],
    [{ prompt: [[1], [2, -1]] }, "prompt.1.1"],
    [{}, "prompt"],
    [{ prompt: "a", n: 2, best_of: 1 }, "best_of"],
    [{ prompt: "a", best_of: 2, stream: true }, "best_of"],
    [{ prompt: "a", echo: true, logprobs: 1, stream: true }, "echo"],
    [{ prompt: "a", echo: true, logprobs: 1, suffix: "b" }, "echo"],
    [{ prompt: [1, 2], echo: true }, "echo"],
    [{ prompt: "a", max_tokens: 0 }, "max_tokens"],
    [{ prompt: "a", max_tokens: null, n_predict: 0 }, "n_predict"],
    [{ prompt: "a", max_tokens: -2 }, "max_tokens"],
    [{ prompt: "a", n_predict: -2 }, "n_predict"],
    [{ prompt: "a", echo: true, n_probs: 1, stream: true }, "echo"],
    [{ prompt: [1], suffix: "x" }, "suffix"],
    [{ prompt: ["a", "b", "c"], n: 86 }, "n"],
    [{ prompt: ["a", "b", "c"], best_of: 86 }, "best_of"],
    [{ prompt: "a", logprobs: 21 }, "logprobs"],
    [{ prompt: "a", logprobs: 4 }, "logprobs"],
    [{ prompt: "a", n_probs: 4 }, "n_probs"],
  ])("%j is refused by name", async (wrong, param) => {
    const response = await serve(undefined, { maxLogprobs: 3 }).post("/v1/completions", wrong);
    expect(response.status).toBe(400);
    expect((await json(response)).error.param).toStartWith(param);
  });
});
