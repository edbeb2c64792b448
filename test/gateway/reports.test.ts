// What upstreams report before the end of an answer.

import { describe, expect, test } from "bun:test";
import { delta, eventStream, serverOf, usage } from "./fixture-server.ts";
import { finishOf, generate, remote } from "./remote.ts";

const progress = (processed: number) => ({
  ...delta({ role: "assistant", content: null }),
  prompt_progress: { total: 12, cache: 4, processed, time_ms: 7 },
});
const timed = (text: string, tokens: number) => ({ ...delta({ content: text }), timings: { predicted_n: tokens } });
const sampled = (events: Awaited<ReturnType<typeof generate>>) =>
  events.flatMap((event) => (event.type === "text" ? [[event.text, event.sampled]] : []));
const progressed = (events: Awaited<ReturnType<typeof generate>>) =>
  events.flatMap((event) => (event.type === "progress" ? [[event.processed, event.total, event.cached]] : []));

describe("an upstream of llama.cpp's kind", () => {
  const answer = [progress(4), progress(12), timed("one", 1), timed(" two three", 4), delta({}, "stop"), usage(12, 4)];

  test("counts tokens on request, and prompt tokens always", async () => {
    const server = serverOf("llamacpp", () => eventStream(answer));
    const far = await remote([server.url]);
    const counted = await generate(far, { counted: "timings" });
    expect(sampled(counted)).toEqual([
      ["one", 1],
      [" two three", 3],
    ]);
    expect(progressed(counted)).toEqual([
      [4, 12, 4],
      [12, 12, 4],
    ]);
    expect(server.asked.at(-1)?.body).toMatchObject({ timings_per_token: true, return_progress: true });
    expect(sampled(await generate(far))).toEqual([
      ["one", undefined],
      [" two three", undefined],
    ]);
    expect(server.asked.at(-1)?.body).not.toHaveProperty("timings_per_token");
  });

  test("reports the prompt length of a cancelled answer", async () => {
    const server = serverOf("llamacpp", () => eventStream([progress(12), timed("one", 1)], { hold: true }));
    const far = await remote([server.url]);
    expect(finishOf(await generate(far, {}, undefined, "text"))).toMatchObject({
      reason: "cancelled",
      usage: { promptTokens: 12, cachedTokens: 4, completionTokens: 1 },
    });
  });

  test("that stops while it computes the prompt leaves the request to another replica", async () => {
    const broken = serverOf("llamacpp", () => eventStream([progress(4)], { done: false }));
    const sound = serverOf("llamacpp", () => eventStream(answer));
    const far = await remote([broken.url, sound.url]);
    for (let turn = 0; turn < 4; turn++) {
      const events = await generate(far, { messages: [{ role: "user", content: `conversation ${turn}` }] });
      expect(events.flatMap((event) => (event.type === "text" ? event.text : [])).join("")).toBe("one two three");
    }
  });
});

test("vLLM's counts are read from the usage of each chunk, which includes the prompt tokens", async () => {
  const chunk = (text: string, tokens: number) => ({ ...usage(12, tokens), ...delta({ content: text }) });
  const answer = [chunk("one", 1), chunk(" two", 3), delta({}, "stop"), usage(12, 3)];
  const server = serverOf("vllm", () => eventStream(answer));
  const events = await generate(await remote([server.url]), { counted: "usage" });
  expect(sampled(events)).toEqual([
    ["one", 1],
    [" two", 2],
  ]);
  expect(progressed(events)).toEqual([[12, 12, 3]]);
  expect(server.asked.at(-1)?.body).toMatchObject({
    stream_options: { include_usage: true, continuous_usage_stats: true },
  });
});

test("a chunk that yields several events counts its tokens once", async () => {
  const call = delta({ tool_calls: [{ index: 0, id: "c", function: { name: "f", arguments: "{}" } }] });
  const answer = [timed("a", 5), { ...call, timings: { predicted_n: 9 } }, delta({}, "tool_calls"), usage(12, 9)];
  const far = await remote([serverOf("llamacpp", () => eventStream(answer)).url]);
  const events = await generate(far, { counted: "timings" });
  const counts = events.flatMap((event) => ("sampled" in event ? (event.sampled ?? 1) : []));
  expect([counts.at(0), counts.reduce((sum, count) => sum + count, 0)]).toEqual([5, 9]);
});
