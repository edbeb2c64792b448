// Usage of several answers: whichever ends first, the response, its stream, the log and the metrics agree.

import { describe, expect, test } from "bun:test";
import { systemClock } from "../../src/domain/clock.ts";
import { PrometheusMetrics } from "../../src/telemetry/prometheus.ts";
import { parseExposition } from "../support/exposition.ts";
import { until } from "../support/until.ts";
import { serve, type TestServer } from "./harness.ts";

interface Chunk {
  readonly choices: readonly { readonly index: number; readonly finish_reason: string | null }[];
  readonly usage?: Readonly<Record<string, unknown>>;
}

/** Starts a server on which every other answer waits for the next one, whose 1,000 prompt tokens are cached. */
function serveBackwards(): TestServer {
  const server: TestServer = serve(() => {
    const asked = server.engine.requests.length;
    const isFirst = asked % 2 === 1;
    const secondEnded = () => server.engine.requests.length > asked && server.engine.live === 1;
    const usage = { promptTokens: 1000, cachedTokens: isFirst ? 0 : 999, promptMs: isFirst ? 800 : 1 };
    return { steps: [{ text: "a" }, ...(isFirst ? [{ wait: until(secondEnded) }] : [])], usage };
  });
  return server;
}

/** Uses the server's own counters in place of the recorded ones. */
function countIn(server: TestServer): (name: string) => Promise<number | undefined> {
  const counters = new PrometheusMetrics(systemClock);
  Object.assign(server.metrics, {
    of: counters.of.bind(counters),
    render: counters.render.bind(counters),
  });
  return async (name) => {
    const families = parseExposition(await (await fetch(`${server.url}/metrics`)).text());
    return [...families.values()].flatMap(({ samples }) => samples).find((sample) => sample.name === name)?.value;
  };
}

/** Returns the log entry of the one generation. */
async function logged({ log }: TestServer) {
  const line = () => log.lines.find(({ fields }) => fields["prompt"] !== undefined);
  await until(() => line() !== undefined);
  return line()?.fields;
}

describe("two answers to a prompt, the second of which ends first", () => {
  test("have the usage of the first for their prompt, streamed or not", async () => {
    const server = serveBackwards();
    const whole = (await (await server.chat({ n: 2 })).json()) as Chunk;
    const streamed = await (await server.chat({ n: 2, stream: true })).text();
    const chunks = streamed
      .split("\n")
      .filter((line) => line.startsWith("data: {"))
      .map((line) => JSON.parse(line.slice(6)) as Chunk);
    const ended = chunks.flatMap(({ choices }) => choices).filter((choice) => choice.finish_reason !== null);
    expect(ended.map(({ index }) => index)).toEqual([1, 0]);
    const { usage } = chunks.at(-1) ?? {};
    expect(usage).toEqual(whole.usage);
    expect(usage).toMatchObject({
      prompt_tokens: 1000,
      completion_tokens: 2,
      prompt_tokens_details: { cached_tokens: 0 },
      prompt_time: 0.8,
    });
  });

  test("are logged and counted in the same way", async () => {
    const server = serveBackwards();
    const read = countIn(server);
    await (await server.chat({ n: 2, stream: true })).text();
    expect(await read("svc_prompt_tokens_total")).toBe(1000);
    expect(await read("svc_prompt_tokens_cached_total")).toBe(0);
    expect(await logged(server)).toMatchObject({ prompt: 1000, cached: 0, completion: 2 });
  });
});

test("share one request in log and metrics with all other prompts of a completion", async () => {
  const server = serveBackwards();
  const read = countIn(server);
  const answer = await server.post("/v1/completions", { prompt: ["one", "two"] });
  expect(await answer.json()).toMatchObject({ usage: { prompt_tokens: 2000, completion_tokens: 2 } });
  expect(await read("svc_prompt_tokens_total")).toBe(2000);
  expect(await read("svc_prompt_tokens_cached_total")).toBe(999);
  expect(await read("svc_request_prompt_tokens_sum")).toBe(2000);
  expect(await read("svc_request_prompt_tokens_count")).toBe(1);
  expect(await logged(server)).toMatchObject({ prompt: 2000, cached: 999, completion: 2 });
});
