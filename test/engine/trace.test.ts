// --trace-file and X-Svc-Profile with the embedded model in a running server.

import { beforeAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { readFileSync } from "node:fs";
import { join } from "node:path";
import { ChatCompletion, SvcProfileExtended } from "../../src/contract/chat.ts";
import { checker } from "../../src/contract/schema.ts";
import { sharedFolder } from "../support/folders.ts";
import { metricValue } from "../support/metrics-text.ts";
import { runSvc } from "../support/program.ts";
import { startServer, type ServerProcess } from "../support/server.ts";
import { until } from "../support/until.ts";

interface TraceEvent {
  readonly ph: "X" | "B" | "E" | "C" | "M";
  readonly name: string;
  readonly pid: number;
  readonly tid: number;
  readonly ts: number;
  readonly dur?: number;
  readonly args?: Readonly<Record<string, unknown>>;
}

setDefaultTimeout(120_000);

const SECRET = "xyzzy-plugh";
const folder = sharedFolder();
const path = join(folder, "trace.json");
let server: ServerProcess;

const readTrace = (): TraceEvent[] => JSON.parse(`${readFileSync(path, "utf8")}]`);

async function ask(id: string, fields: object, headers = {}) {
  const response = await server.post(
    "/v1/chat/completions",
    { messages: [{ role: "user", content: `Repeat ${SECRET}.` }], ignore_eos: true, ...fields },
    { headers: { "x-request-id": id, ...headers } },
  );
  return checker(ChatCompletion)(await response.json());
}

/**
 * Returns the slices of a track as intervals, including those recorded as begin and end. Throws at an end without a
 * beginning.
 */
function intervals(events: readonly TraceEvent[]) {
  const open: TraceEvent[] = [];
  const found: { name: string; from: number; to: number; args: Record<string, unknown> }[] = [];
  for (const event of events) {
    if (event.ph === "X") {
      found.push({ name: event.name, from: event.ts, to: event.ts + (event.dur ?? NaN), args: { ...event.args } });
    } else if (event.ph === "B") open.push(event);
    else if (event.ph === "E") {
      const begun = open.pop();
      expect(begun?.name).toBe(event.name);
      found.push({
        name: event.name,
        from: begun?.ts ?? NaN,
        to: event.ts,
        args: { ...begun?.args, ...event.args },
      });
    }
  }
  return { found, open };
}

const metric = async (name: string) => metricValue(await server.metrics(), name);

beforeAll(async () => {
  server = await startServer(["--trace-file", path, "--parallel", "2", "--ctx", "2048", "--no-speculation"]);
});

describe("a trace", () => {
  test("has every request's phases and every step, and its rows match the usage", async () => {
    const lengths = [5, 20, 12];
    const answers = await Promise.all(lengths.map((max_tokens, index) => ask(`id-${index}`, { max_tokens })));
    const choices = await ask("id-choices", { max_tokens: 8, n: 2 });
    let events: TraceEvent[] = [];
    while (events.filter(({ ph, name }) => ph === "E" && name === "request").length < 5) {
      await Bun.sleep(100);
      events = readFileSync(path, "utf8") === "" ? [] : readTrace();
    }
    const tracks = Map.groupBy(events, ({ pid, tid }) => `${pid} ${tid}`);
    for (const own of tracks.values()) {
      const { found, open } = intervals(own);
      expect(open).toEqual([]);
      const ordered = found.toSorted((a, b) => a.from - b.from || b.to - a.to);
      ordered.forEach((one, index) => {
        expect(one.to).toBeGreaterThanOrEqual(one.from);
        // Either nested or disjoint.
        for (const other of ordered.slice(index + 1)) expect(other.from >= one.to || other.to <= one.to).toBe(true);
      });
    }
    const [[, main = []] = [], ...others] = [...tracks];
    const requests = others.map(([, own]) => intervals(own).found);
    expect(requests.map((own) => own.map(({ name }) => name))).toEqual(
      Array(5).fill(["queued", "prefill", "decode", "request"]),
    );
    const outcomes = requests.map((own) => own.at(-1)?.args ?? {});
    const ids = outcomes.map(({ id }) => String(id).split(" ")[0]);
    expect(ids.sort()).toEqual(["id-0", "id-1", "id-2", "id-choices", "id-choices"]);
    expect(outcomes.every(({ reason }) => reason === "length")).toBe(true);

    const steps = main.filter(({ ph }) => ph === "X");
    const rows = (kind: string) =>
      steps.reduce((sum, { args }) => sum + Number(args?.[kind] ?? 0) * Number(args?.["steps"] ?? 0), 0);
    const usages = [...answers, choices].map(({ usage }) => usage);
    const prompt = usages.reduce((sum, usage) => sum + usage.prompt_tokens, 0);
    const completion = usages.reduce((sum, usage) => sum + usage.completion_tokens, 0);
    const shared = outcomes.reduce((sum, args) => sum + Number(args["cached_tokens"]), 0);
    // The second choice computes only what it does not share. For each answer, the last row of the prompt yields the
    // first token.
    expect(rows("prefill_rows")).toBe(prompt + choices.usage.prompt_tokens - shared);
    expect(rows("decode_rows")).toBe(completion - requests.length);
    expect(steps.some(({ name }) => name === "between steps")).toBe(true);
    expect(events.filter(({ ph }) => ph === "C").at(-1)?.args).toEqual({ used: 0 });

    const all = rows("decode_rows") + rows("prefill_rows");
    while ((await metric("svc_engine_step_rows_total")) < all) await Bun.sleep(50);
    expect(await metric("svc_engine_step_rows_total")).toBe(all);
    const computed = steps.reduce((sum, { args }) => sum + Number(args?.["steps"] ?? 0), 0);
    expect(await metric("svc_engine_step_duration_seconds_count")).toBe(computed);
    expect(await metric("svc_engine_steps_total")).toBe(computed);
  });

  test("continues in the same file after the engine was killed, and never contains text", async () => {
    await ask("before", { max_tokens: 3 });
    await until(async () => (await metric("svc_engine_step_rows_total")) > 0 && readFileSync(path).length > 0);
    const before = readTrace();
    process.kill(server.enginePid(), "SIGKILL");
    while ((await server.health()).engine.restarts === 0) await Bun.sleep(20);
    await server.untilReady();
    const rows = await metric("svc_engine_step_rows_total");
    expect(rows).toBeGreaterThan(0);
    await ask("after", { max_tokens: 3 });
    while ((await metric("svc_engine_step_rows_total")) <= rows) await Bun.sleep(50);
    await server.stop();
    const events = readTrace();
    expect(events.slice(0, before.length)).toEqual(before);
    expect(new Set(events.map(({ pid }) => pid)).size).toBe(2);
    expect(events.at(-1)?.ph).toBe("C");
    const text = readFileSync(path, "utf8");
    for (const word of [SECRET, "xyzzy", "Repeat"]) expect(text).not.toContain(word);
  });
});

test("a trace file that cannot be written is an error at startup", async () => {
  const file = join(folder, "missing", "trace.json");
  const { code, err } = await runSvc(["--port", "0", "--trace-file", file]);
  expect(code).toBe(1);
  expect(err).toContain(`The trace file ${file} cannot be written: there is no such file or folder.`);
});

test("a profile reports what the embedded model's answer cost", async () => {
  server = await startServer([]);
  const answer = await ask("p", { max_tokens: 60 }, { "x-svc-profile": "extended" });
  const { summary, samples } = checker(SvcProfileExtended)(answer.svc_profile_extended);
  await server.stop();
  expect(samples.length).toBeGreaterThanOrEqual(1);
  expect(summary.chip).toBeString();
  expect(summary.memory_weights_gib).toBeGreaterThan(0);
  expect(summary.memory_kv_gib).toBeGreaterThan(0);
  expect(summary.est_bandwidth_gbs).toBeGreaterThan(0);
  expect(summary.cpu_pct).toBeGreaterThan(0);
  expect(summary.decode_tok_s).toBe(answer.usage.completion_tokens_per_second);
  expect(samples.at(-1)?.t).toBeGreaterThan(0);
});
