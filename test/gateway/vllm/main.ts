// `VLLM_PYTHON=…/bin/python bun test/gateway/vllm/main.ts`: svc in front of two real vLLM servers; see ../vllm.md.
// Prints one line per check; the exit status is 1 when one fails.

import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { streamChat } from "../../support/chat-client.ts";
import { freePort } from "../../support/free-port.ts";
import { exitOnSignals } from "../../support/kill-at-exit.ts";
import { startServer } from "../../support/server.ts";
import { startVllm, type VllmServer } from "./servers.ts";
import { makeTinyModel } from "./tiny-model.ts";

const STREAMS = 24;
const MODEL = "gpu/tiny";
/** Returns a tool; without `strict`, vLLM does not enforce the schema of its arguments. */
const tool = (name: string) => ({
  type: "function",
  function: {
    name,
    strict: true,
    parameters: {
      type: "object",
      properties: { city: { enum: ["Oslo", "Rome"] } },
      required: ["city"],
      additionalProperties: false,
    },
  },
});
const tools = [tool("get_weather"), tool("get_time")];

interface Answer {
  readonly status: number;
  readonly downgraded: boolean;
  readonly body: {
    readonly error?: { readonly code: string; readonly message: string };
    readonly choices: readonly [
      {
        readonly finish_reason: string;
        readonly message: {
          readonly content: string | null;
          readonly tool_calls?: readonly { readonly function: { readonly name: string; readonly arguments: string } }[];
        };
      },
    ];
    readonly usage: {
      readonly prompt_tokens: number;
      readonly prompt_tokens_details: { readonly cached_tokens: number };
    };
  };
}

let failed = 0;
function report(what: string, isRight: boolean, seen: unknown): void {
  if (!isRight) failed++;
  console.log(`${isRight ? "ok  " : "FAIL"} ${what}: ${typeof seen === "string" ? seen : JSON.stringify(seen)}`);
}

const post = async (url: string, fields: Record<string, unknown>): Promise<Answer> => {
  const messages = [{ role: "user", content: "hi" }];
  const response = await fetch(`${url}/v1/chat/completions`, {
    method: "POST",
    headers: { "content-type": "application/json" },
    body: JSON.stringify({ model: MODEL, messages, max_tokens: 40, temperature: 0, ...fields }),
  });
  return {
    status: response.status,
    downgraded: response.headers.get("x-grammar-constraints") === "downgraded",
    body: (await response.json()) as Answer["body"],
  };
};

const textOf = ({ body }: Answer) => body.choices[0].message.content ?? "";

async function checkCapabilities(url: string): Promise<void> {
  // svc serves before it knows all of its upstreams.
  for (let second = 0; second < 60; second++) {
    const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string }[] };
    if (data.some(({ id }) => id === MODEL)) break;
    await Bun.sleep(1000);
  }
  await Bun.sleep(15_000);
  const { models } = (await (await fetch(`${url}/v1/models`)).json()) as {
    models: { name: string; capabilities: string[] }[];
  };
  const found = models.find(({ name }) => name === MODEL)?.capabilities ?? [];
  report("capabilities are found by asking", found.includes("tools") && found.includes("logprobs"), found.join(", "));
}

async function checkTools(url: string): Promise<void> {
  const named = { type: "function", function: { name: "get_weather" } };
  // Where JSON allows white space, a random model writes a lot of it.
  const answer = await post(url, { tools, tool_choice: named, max_tokens: 1000 });
  const called = answer.body.choices?.[0].message.tool_calls?.map((call) => call.function) ?? [];
  const isCall =
    called.length === 1 && called[0]?.name === "get_weather" && /^\{.*"city".*\}$/s.test(called[0].arguments);
  report("a tool by name is called with an object", isCall, answer.body.error ?? called);
  report("what vLLM enforces is not said to be downgraded", !answer.downgraded, { downgraded: answer.downgraded });

  // The prompt is the same whatever the tool choice, so all of its complete blocks are cached.
  const messages = [{ role: "user", content: "Tell me more. ".repeat(150) }];
  const cachedOf = async (choice: unknown) => {
    const { usage } = (await post(url, { messages, tools, tool_choice: choice, max_tokens: 4 })).body;
    return [usage.prompt_tokens, usage.prompt_tokens_details.cached_tokens] as const;
  };
  await cachedOf("auto");
  const [auto, none, byName] = [await cachedOf("auto"), await cachedOf("none"), await cachedOf(named)];
  const isSame = auto[1] > 0 && [none, byName].every(([prompt, cached]) => prompt === auto[0] && cached === auto[1]);
  report("the choice among tools leaves the prompt cached (prompt, cached tokens)", isSame, { auto, none, byName });
}

async function checkFields(url: string): Promise<void> {
  const one = await post(url, { allowed_token_ids: [120], max_tokens: 8 });
  report("allowed_token_ids", textOf(one) === "xxxxxxxx", textOf(one));
  const stopped = await post(url, { allowed_token_ids: [120], stop_token_ids: [120], max_tokens: 8 });
  report("stop_token_ids", stopped.body.choices[0].finish_reason === "stop", stopped.body.choices[0]);
  const bad = await post(url, { allowed_token_ids: [120, 121], bad_words: ["x"], max_tokens: 4 });
  report("bad_words", textOf(bad) === "yyyy", textOf(bad));
  const choice = await post(url, { structured_outputs: { choice: ["yes", "no"] } });
  report("structured_outputs.choice", ["yes", "no"].includes(textOf(choice)), textOf(choice));
  const regex = await post(url, { guided_regex: "[ab]{5}" });
  report("guided_regex", /^[ab]{5}$/.test(textOf(regex)), textOf(regex));
  const grammar = await post(url, { grammar: 'root ::= "<" [0-9]{3} ">"' });
  report("grammar", /^<\d{3}>$/.test(textOf(grammar)), grammar.body.error ?? textOf(grammar));
  const schema = {
    type: "object",
    properties: { a: { enum: ["x", "y"] } },
    required: ["a"],
    additionalProperties: false,
  };
  const response_format = { type: "json_schema", json_schema: { name: "a", schema, strict: true } };
  const json = await post(url, { response_format });
  report("a strict schema, not downgraded", /"a":\s*"[xy]"/.test(textOf(json)) && !json.downgraded, textOf(json));
  const refused = await post(url, { mirostat: 2 });
  report("what vLLM has not is refused by name", refused.status === 400, refused.body.error);
}

/** Measures, for streams that the client abandons, the milliseconds until no replica computes. */
async function checkCancel(url: string, replicas: readonly VllmServer[]): Promise<void> {
  const leave = new AbortController();
  const streams = Array.from({ length: STREAMS }, (_, number) =>
    streamChat(url, askOf(number, 2000), { signal: leave.signal }).catch(() => {}),
  );
  const running = async () =>
    (await Promise.all(replicas.map((replica) => replica.running()))).reduce((sum, one) => sum + one, 0);
  for (const until = performance.now() + 30_000; performance.now() < until && (await running()) < STREAMS;)
    await Bun.sleep(50);
  const before = await running();
  const began = performance.now();
  leave.abort();
  while ((await running()) > 0 && performance.now() - began < 20_000) await Bun.sleep(10);
  const ms = Math.round(performance.now() - began);
  await Promise.all(streams);
  report(
    `${STREAMS} streams cancelled: vLLM computes none after`,
    before === STREAMS && ms <= 1000,
    `${ms} ms (of ${before})`,
  );
}

const askOf = (number: number, tokens: number) => ({
  model: MODEL,
  messages: [{ role: "user", content: `conversation ${number}` }],
  max_tokens: tokens,
  ignore_eos: true,
});

/** Runs requests concurrently while something happens to a replica; returns how they ended. */
async function underLoad(url: string, seconds: number, happening: () => Promise<void>) {
  const ends: Record<string, number> = {};
  let number = 0;
  const until = performance.now() + seconds * 1000;
  const client = async () => {
    while (performance.now() < until) {
      const { error, done, text } = await streamChat(url, askOf(number++, 20));
      const end = error
        ? `${error.code}${text === "" ? " before its first byte" : " in the stream"}`
        : done
          ? "whole"
          : "cut";
      ends[end] = (ends[end] ?? 0) + 1;
    }
  };
  await Promise.all([...Array.from({ length: 8 }, client), happening()]);
  return ends;
}

const lost = (ends: Record<string, number>) =>
  Object.keys(ends).filter((end) => end !== "whole" && !end.endsWith("in the stream"));
const stateOf = async (url: string) => {
  const { data } = (await (await fetch(`${url}/upstreams`)).json()) as { data: { replicas: { state: string }[] }[] };
  return data.flatMap(({ replicas }) => replicas.map(({ state }) => state));
};

async function checkFailures(url: string, [first, second]: readonly [VllmServer, VllmServer]): Promise<void> {
  let during: string[] = [];
  const stopped = await underLoad(url, 40, async () => {
    await Bun.sleep(5000);
    first.kill("SIGSTOP");
    await Bun.sleep(22_000);
    during = await stateOf(url);
    first.kill("SIGCONT");
  });
  report("a replica that hangs loses no request", lost(stopped).length === 0, { ...stopped, during });
  const killed = await underLoad(url, 15, async () => {
    await Bun.sleep(5000);
    second.kill("SIGKILL");
    await second.ended;
    await Bun.sleep(5000);
    during = await stateOf(url);
  });
  report("kill -9 of a replica fails none that had not begun", lost(killed).length === 0, { ...killed, during });
}

exitOnSignals();
const python = process.env["VLLM_PYTHON"];
if (python === undefined) throw new Error("VLLM_PYTHON names no python: see test/gateway/vllm.md");
const folder = mkdtempSync(join(tmpdir(), "svc-vllm-"));
const started: VllmServer[] = [];
try {
  await makeTinyModel(folder);
  // One after the other, so that each has its full time to compile and load.
  for (let replica = 0; replica < 2; replica++) started.push(await startVllm(python, folder, await freePort()));
  const replicas = started as [VllmServer, VllmServer];
  const upstreams = replicas.flatMap(({ url }) => ["--upstream", `gpu=${url}`]);
  const server = await startServer(["--no-model", ...upstreams, "--upstream-timeout", "15", "--log-level", "warn"]);
  try {
    await checkCapabilities(server.url);
    await checkTools(server.url);
    await checkFields(server.url);
    await checkCancel(server.url, replicas);
    await checkFailures(server.url, replicas);
    await server.stop();
  } finally {
    console.log(await server.kill());
  }
} finally {
  for (const { kill } of started) kill("SIGKILL");
  rmSync(folder, { recursive: true, force: true });
}
process.exitCode = failed > 0 ? 1 : 0;
