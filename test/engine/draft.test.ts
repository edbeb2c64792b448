// A real model with a draft model beside it: every answer is what it is without, however often the drafts are right.
// `draft.long.test.ts` does the same where each sequence has cells of its own.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { makeRecurrentModel } from "../models/make-recurrent-model.ts";
import { makeVisionModel } from "../models/make-vision-model.ts";
import { scrambledModel } from "../models/scrambled-model.ts";
import { MODEL } from "../native/harness.ts";
import { metricValue } from "../support/metrics-text.ts";
import { runSvc } from "../support/program.ts";
import { startServer } from "../support/server.ts";
import {
  ask,
  CAPITAL,
  COMMON,
  counts,
  draftTests,
  EIGHT,
  expectedAnswers,
  MODELS,
  requests,
  say,
  seen,
  type Seen,
} from "./draft-rig.ts";

setDefaultTimeout(120_000);

const expected = expectedAnswers();

describe.each([
  ["the model itself", MODEL],
  ["one that is never right", scrambledModel(MODEL, MODELS)],
] as const)("the draft model is %s, unified KV cache", (_, draft) => draftTests(expected, draft, "unified"));

test("a draft model that does not pay is hardly asked", async () => {
  const server = await startServer([...EIGHT, "--draft", scrambledModel(MODEL, MODELS), "--draft-max", "5"]);
  try {
    const names = ["longer", "greedy", "a schema", "longer", "longer", "longer"];
    let said = 0;
    for (const name of names) {
      const answer = seen(await ask(server, requests[name] ?? {}));
      expect(answer).toEqual(expected.get(name) as Seen);
      said += answer.completion;
    }
    expect((await counts(server)).tokens).toBeLessThan(0.3 * said);
  } finally {
    await server.stop();
  }
});

test("requests that give their room back are drafted for again", async () => {
  const flags = ["--parallel", "4", "--ctx", "512", "--kv-mode", "unified", "--draft", MODEL, "--no-draft-adaptive"];
  const server = await startServer([...COMMON, ...flags]);
  try {
    const story = (at: number) => say(`Tell me story number ${at}.`);
    const body = (at: number) => ({ messages: story(at), temperature: 0, max_tokens: 200, ignore_eos: true });
    const answers = await Promise.all([1, 2, 3, 4].map((at) => ask(server, body(at))));
    for (const { usage } of answers) expect(usage.completion_tokens).toBe(200);
    expect(metricValue(await server.metrics(), "svc_num_preemptions_total")).toBeGreaterThan(0);
    await server.untilIdle(10_000);
  } finally {
    await server.stop();
  }
});

test("a draft model that does not fit is refused at start, in words", async () => {
  const { model } = makeVisionModel("tiles", MODELS);
  const { code, err } = await runSvc([...COMMON, "--draft", model, "--port", "0"]);
  expect(code).toBe(3);
  expect(err).toContain(`the draft model ${model} does not have the model's vocabulary`);
});

test("a recurrent model that repeats itself goes on to its limit: nothing is guessed for it", async () => {
  const server = await startServer(["--model", makeRecurrentModel(MODELS), "--threads", "1", "--ctx", "2048"]);
  try {
    // Two tokens that take turns for a while, and then not: a wrong guess would have to be taken back.
    const body = { messages: CAPITAL, temperature: 1, seed: 5, max_tokens: 200, ignore_eos: true };
    const { usage } = await ask(server, { ...body, logit_bias: { "70": 60, "71": 60 } });
    expect(usage.completion_tokens).toBe(200);
    expect((await server.health()).engine.restarts).toBe(0);
  } finally {
    await server.stop();
  }
});
