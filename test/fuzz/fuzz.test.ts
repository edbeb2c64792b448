// Mutated requests of every dialect over a real socket to the app with a scripted engine: each is answered or refused
// properly, and nothing is left behind. FUZZ_CASES and FUZZ_SEED make it longer, or another one.

import { expect, test } from "bun:test";
import type { GenerateRequest } from "../../src/domain/generate.ts";
import { fakeModel, type FakeScript } from "../support/fake-text-engine.ts";
import { scripts, type ScriptName } from "../contract/scripts.ts";
import { serve } from "../http/harness.ts";
import { until } from "../support/until.ts";
import { fuzz, report } from "./run.ts";
import { seeds } from "./seeds.ts";
import { targets, type TargetName } from "./targets.ts";

const USUAL = 40;
const cases = Number(process.env["FUZZ_CASES"] ?? USUAL);
const seed = Number(process.env["FUZZ_SEED"] ?? 1);

function scriptOf({ tools, topLogprobs, thinking }: GenerateRequest): FakeScript {
  const name: ScriptName =
    tools.length > 0 ? "tool-call" : topLogprobs !== undefined ? "logprobs" : thinking ? "reasoning" : "text";
  return scripts[name] as FakeScript;
}

const seeing = { ...fakeModel, vision: true };

test.each(Object.keys(seeds) as TargetName[])("the seeds of %s are valid", async (name) => {
  const server = serve(scriptOf);
  server.engine.model = seeing;
  for (const [index, body] of seeds[name].entries()) {
    const answer = await server.post(targets[name].path, body);
    const text = await answer.text();
    // One refers to answers that are not there.
    expect([index, answer.status, answer.ok || text]).toEqual(
      "previous_response_id" in body ? [index, 404, text] : [index, 200, true],
    );
  }
});

for (const name of Object.keys(seeds) as TargetName[]) {
  test(`${name}: ${cases} mutated requests of seed ${seed}`, async () => {
    const server = serve(scriptOf, { maxQueue: 200, mediaFetch: false });
    server.engine.model = seeing;
    const resident: number[] = [];
    for (const half of [0, 1]) {
      const count = cases >> 1;
      const outcome = await fuzz(name, { port: server.port, seed, first: half * count, count });
      if (outcome.failures.length > 0 || cases > USUAL) console.log(report(name, outcome));
      expect(outcome.failures).toEqual([]);
      // What a test remembers is not what the server keeps.
      server.engine.requests.length = server.log.lines.length = server.metrics.calls.length = 0;
      if (cases <= USUAL) continue;
      Bun.gc(true);
      resident.push(process.memoryUsage.rss() / 1e6);
    }
    await until(() => server.requests.activeCount === 0 && server.metrics.connections === 0);
    expect([server.requests.registeredCount, server.engine.live]).toEqual([0, 0]);
    expect((await fetch(`${server.url}/health`)).status).toBe(200);
    const [first = 0, second = 0] = resident;
    if (cases > USUAL) console.log(`  resident: ${first.toFixed(0)} MB, then ${second.toFixed(0)} MB`);
  }, 600_000);
}
