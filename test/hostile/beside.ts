// The same attacks on svc and on llama-server with the same model, context and threads, one server at a time.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { sendChat, streamAnswer } from "../bench/client.ts";
import { makeModel } from "../bench/make-model.ts";
import { PromptSource } from "../bench/prompts.ts";
import { launch, type LaunchPlan, type RunningServer, type Side } from "../bench/server-under-test.ts";
import { childrenOf, processTree } from "../support/processes.ts";
import { LLAMA_SERVER, MODELS } from "../parity/servers.ts";
import { PROGRAM } from "../support/server.ts";
import { send, SLOWEST_HEALTH_MS } from "./bodies.ts";
import type { Options, Row } from "./row.ts";
import { watchHealth } from "./slowest-health.ts";
import { MOST_MEMORY } from "./watched.ts";

const ROOT = join(import.meta.dir, "../..");
const SVC_MINI = join(ROOT, "vendor/svc-mini/svc-mini-q8_0.gguf");
const words = (line: string) => line.split(" ");
/** The value reported for an operation that does not end. */
const GIVEN_UP_MS = 120_000;

interface Attack {
  readonly promise: string;
  readonly attack: string;
  readonly limit: string;
  readonly model?: "60m";
  /** Tokens of context; 16,384 by default. */
  readonly ctx?: number;
  /** Returns a figure, and whether the promise held. */
  readonly run: (server: RunningServer) => Promise<{ readonly figure: string; readonly ok: boolean }>;
}

function plan(side: Side, { model, ctx = 16_384 }: Attack): LaunchPlan {
  const file = model === "60m" ? makeModel("60m", MODELS) : SVC_MINI;
  const svc = [...PROGRAM, "--model", file, ...words(`--ctx ${ctx} --parallel 4 --threads 2`)];
  const theirs = [
    LLAMA_SERVER,
    "--model",
    file,
    ...words(`--ctx-size ${ctx} --parallel 4 --threads 2 --jinja --no-ui --kv-unified`),
  ];
  return { side, command: side === "svc" ? svc : theirs };
}

const seconds = (ms: number) => (ms >= GIVEN_UP_MS ? `over ${GIVEN_UP_MS / 1000} s` : `${(ms / 1000).toFixed(2)} s`);

/** Returns the milliseconds to a small request's first token. */
async function firstToken(port: number, fields: object = {}): Promise<number> {
  const started = performance.now();
  const leave = new AbortController();
  const first = streamAnswer(port, { prompt: "Hello", maxTokens: 4, fields: { ...fields }, leave: leave.signal }).then(
    ({ tokens }) => (tokens[0] ?? performance.now()) - started,
  );
  const timer = setTimeout(() => leave.abort(), GIVEN_UP_MS);
  return first.catch(() => GIVEN_UP_MS).finally(() => clearTimeout(timer));
}

/** Measures how much longer a small request takes while this body is processed. */
const beside =
  (body: () => string, path = "/v1/chat/completions") =>
  async (server: RunningServer) => {
    await firstToken(server.port);
    const alone = await firstToken(server.port);
    const hostile = fetch(`http://127.0.0.1:${server.port}${path}`, {
      method: "POST",
      headers: { "content-type": "application/json" },
      body: body(),
      signal: AbortSignal.timeout(GIVEN_UP_MS + 60_000),
    });
    const answered = hostile.then(
      async (response) => `${response.status}${(await response.text()) ? "" : " (empty)"}`,
      () => "no answer",
    );
    // The body has been received by now.
    await Bun.sleep(100);
    const later = (await firstToken(server.port)) - alone;
    return { figure: `+${seconds(Math.max(0, later))} (hostile request: ${await answered})`, ok: later <= 500 };
  };

const message = (content: string) => ({ role: "user", content });
const sea = (bytes: number) => "sea ".repeat(bytes / 4);
const tool = (description: string, properties: object, at = 0) => ({
  type: "function",
  function: { name: `f${at}`, description, parameters: { type: "object", properties } },
});
const keys = (count: number) => Object.fromEntries(Array.from({ length: count }, (_, n) => [`key-${n}`, n]));

const schemas = (count: number) => Object.fromEntries(Object.keys(keys(count)).map((key) => [key, {}]));

/** Measures the longest pause in a stream during a long prompt. */
async function stalled({ port }: RunningServer) {
  const prompts = new PromptSource(7);
  const stream = streamAnswer(port, { prompt: prompts.next(32), maxTokens: 600, fields: { ignore_eos: true } });
  await Bun.sleep(1000);
  await streamAnswer(port, { prompt: prompts.next(8000), maxTokens: 4 });
  const { tokens } = await stream;
  const longest = Math.max(...tokens.slice(1).map((time, at) => time - (tokens[at] ?? time)));
  return { figure: seconds(longest), ok: longest <= 500 };
}

/** Measures the longest pause in a stream during an answer that follows a grammar. */
const besideGrammar = (grammar: string) => async (server: RunningServer) => {
  const { port } = server;
  await firstToken(port, { grammar: 'root ::= "a"' });
  const leave = AbortSignal.timeout(GIVEN_UP_MS);
  const fields = { ignore_eos: true };
  const stream = streamAnswer(port, { prompt: "Tell me a story.", maxTokens: 1500, fields, leave }).then(
    ({ tokens }) => Math.max(...tokens.slice(1).map((time, at) => time - (tokens[at] ?? time))),
    () => GIVEN_UP_MS,
  );
  await Bun.sleep(300);
  const answer = sendChat(port, { prompt: "Which?", maxTokens: 60, fields: { grammar }, leave }).then(
    ({ status }) => String(status),
    () => "no answer",
  );
  const longest = await stream;
  return { figure: `${seconds(longest)} (hostile request: ${await answer})`, ok: longest <= 500 };
};

/** The work doubles with each letter. */
const ambiguous = [
  "root ::= a0",
  ...Array.from({ length: 60 }, (_, n) => `a${n} ::= "a" a${n + 1} "b" | "a" a${n + 1} "c"`),
  'a60 ::= "x"',
].join("\n");
const alternatives = (count: number) => Array.from({ length: count }, (_, n) => `"k${n}"`).join(" | ");

/** Measures the milliseconds until a client is served after clients that held all places disconnected. */
async function left({ port }: RunningServer) {
  const prompts = new PromptSource(8);
  await firstToken(port);
  const leave = new AbortController();
  const gone = Array.from({ length: 4 }, () =>
    streamAnswer(port, { prompt: prompts.next(3000), maxTokens: 2000, leave: leave.signal }).catch(() => {}),
  );
  await Bun.sleep(500);
  leave.abort();
  const ms = await firstToken(port);
  await Promise.all(gone);
  return { figure: seconds(ms), ok: ms <= 500 };
}

/**
 * Measures the milliseconds until a request with a tool is served after two clients disconnected whose prompts are
 * being rendered.
 */
async function leftEarly({ port }: RunningServer) {
  const fields = { tools: [tool("", {})] };
  await firstToken(port, fields);
  const leave = new AbortController();
  const body = JSON.stringify({ messages: [message("Hi")], tools: [tool(sea(3_900_000), {})] });
  const [headers, signal] = [{ "content-type": "application/json" }, leave.signal];
  const gone = [1, 2].map(() =>
    fetch(`http://127.0.0.1:${port}/v1/chat/completions`, { method: "POST", headers, body, signal }).catch(() => {}),
  );
  await Bun.sleep(500);
  leave.abort();
  const ms = await firstToken(port, fields);
  await Promise.all(gone);
  return { figure: seconds(ms), ok: ms <= 500 };
}

/** Counts how many of four answers complete that fit the context individually but not together. */
async function crowded({ port }: RunningServer) {
  const prompts = new PromptSource(9);
  const answers = [900, 900, 900, 300].map((maxTokens) => streamAnswer(port, { prompt: prompts.next(16), maxTokens }));
  const whole = (await Promise.allSettled(answers)).filter(({ status }) => status === "fulfilled").length;
  return { figure: `${whole} of 4 complete`, ok: whole === 4 };
}

/** Tests whether a server is still there and answers after the process that computes was killed. */
async function killed({ port, pid }: RunningServer) {
  const [engine = pid] = childrenOf(pid);
  process.kill(engine, "SIGKILL");
  await Bun.sleep(200);
  const alive = await fetch(`http://127.0.0.1:${port}/health`).then(
    ({ status }) => status === 200,
    () => false,
  );
  if (!alive) return { figure: "the server is gone", ok: false };
  return { figure: `served again after ${seconds(200 + (await firstToken(port)))}`, ok: true };
}

/** Reads the model list from a page whose host name was rebound to this machine. */
async function rebound({ port }: RunningServer) {
  const { status } = await fetch(`http://127.0.0.1:${port}/v1/models`, { headers: { host: "evil.example" } });
  return { figure: `status ${status}`, ok: status === 403 };
}

/** Sends ten bodies of empty lists at once; measures the longest wait for /health, and the memory of all processes. */
async function emptyLists(server: RunningServer) {
  const bytes = Buffer.from(`{"messages":[${"[],".repeat(15_000_000)}[]]}`);
  const health = await watchHealth(`http://127.0.0.1:${server.port}`);
  let most = 0;
  const sampling = setInterval(() => (most = Math.max(most, server.memory()?.resident ?? 0)), 50);
  const sent = Array.from({ length: 10 }, () => send(server.port, { path: "/v1/chat/completions" }, bytes));
  await Promise.all(sent).finally(() => clearInterval(sampling));
  const slowest = await health.end();
  const alive = processTree(server.pid).length > 0 && most > 0;
  const figure = `${(most / 1e9).toFixed(1)} GB, /health ${Math.round(slowest)} ms${alive ? "" : ", gone"}`;
  return { figure, ok: alive && slowest <= SLOWEST_HEALTH_MS && most < MOST_MEMORY };
}

const COUNTING = "/v1/chat/completions/input_tokens";
const OTHERS_FIRST = "One request does not delay others";
const ATTACKS: readonly Attack[] = [
  {
    promise: OTHERS_FIRST,
    attack: "45,000 keys in chat_template_kwargs",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ messages: [message("Hi")], chat_template_kwargs: keys(45_000) })),
  },
  {
    promise: OTHERS_FIRST,
    attack: "40,000 messages",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ messages: Array.from({ length: 40_000 }, () => message("Hi")) })),
  },
  // Shapes that a server may accept, in addition to those that it refuses.
  {
    promise: OTHERS_FIRST,
    attack: "4,000 messages, few enough to be rendered",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ messages: Array.from({ length: 4000 }, () => message("Hi")) })),
  },
  {
    promise: OTHERS_FIRST,
    attack: "8 × 1,000 keys in chat_template_kwargs, few enough to be rendered",
    limit: "+0.5 s",
    run: beside(() =>
      JSON.stringify({
        messages: [message("Hi")],
        max_tokens: 1,
        chat_template_kwargs: Object.fromEntries(Array.from({ length: 8 }, (_, n) => [`all-${n}`, keys(1000)])),
      }),
    ),
  },
  {
    promise: OTHERS_FIRST,
    attack: "one message of 35 MB",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ messages: [message(sea(35_000_000))] })),
  },
  {
    promise: OTHERS_FIRST,
    attack: "a tool with a description of 90 MB",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ messages: [message("Hi")], tools: [tool(sea(90_000_000), {})] })),
  },
  {
    promise: OTHERS_FIRST,
    attack: "a tool with a description of 3.9 MB, small enough to be rendered",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ messages: [message("Hi")], tools: [tool(sea(3_900_000), {})] })),
  },
  {
    promise: OTHERS_FIRST,
    attack: "35 MB of reasoning",
    limit: "+0.5 s",
    run: beside(() => {
      const thought = { role: "assistant", content: "Hi", reasoning_content: sea(35_000_000) };
      return JSON.stringify({ messages: [message("Hi"), thought, message("Hi")] });
    }),
  },
  {
    promise: OTHERS_FIRST,
    attack: "a tool with 19,000 properties",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ messages: [message("Hi")], tools: [tool("", schemas(19_000))] })),
  },
  {
    promise: OTHERS_FIRST,
    attack: "45 tools with 1,000 properties each, few enough to be rendered",
    limit: "+0.5 s",
    run: beside(() => {
      const tools = Array.from({ length: 45 }, (_, n) => tool("", schemas(1000), n));
      return JSON.stringify({ messages: [message("Hi")], tools });
    }),
  },
  ...([5, 1000] as const).map((count): Attack => ({
    promise: OTHERS_FIRST,
    attack: `${count} tools whose argument schemas expand to 256 forms each`,
    limit: "+0.5 s",
    run: beside(() => {
      const depending = (at: number) =>
        Object.fromEntries(Array.from({ length: 9 }, (_, n) => [`d${n}`, [`e${n}_${at}`]]));
      const tools = Array.from({ length: count }, (_, at) => {
        const parameters = { type: "object", dependentRequired: depending(at) };
        return { type: "function", function: { name: `f${at}`, parameters } };
      });
      return JSON.stringify({ messages: [message("Hi")], tools });
    }),
  })),
  {
    promise: OTHERS_FIRST,
    attack: "counting the tokens of 35 MB",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ messages: [message(sea(35_000_000))] }), COUNTING),
  },
  {
    promise: OTHERS_FIRST,
    attack: "counting the tokens of 8 MB, which svc accepts",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ messages: [message(sea(8_000_000))] }), COUNTING),
  },
  {
    promise: OTHERS_FIRST,
    attack: "a raw completion with a text of 90 MB in its list of tokens",
    limit: "+0.5 s",
    run: beside(() => JSON.stringify({ prompt: [1, sea(90_000_000)], n_predict: 1 }), "/completion"),
  },
  {
    promise: "Memory is bounded",
    attack: "ten concurrent bodies of 15 million empty lists",
    limit: `${MOST_MEMORY / 1e9} GB, /health ${SLOWEST_HEALTH_MS} ms`,
    run: emptyLists,
  },
  {
    promise: "Streams are not stalled",
    attack: "a prompt of 8,000 tokens beside a stream (60M model)",
    limit: "0.5 s",
    model: "60m",
    run: stalled,
  },
  {
    promise: "Streams are not stalled",
    attack: "an ambiguous grammar whose cost doubles with each letter",
    limit: "0.5 s",
    run: besideGrammar(ambiguous),
  },
  {
    promise: "Streams are not stalled",
    attack: "a grammar with 20,000 alternatives",
    limit: "0.5 s",
    run: besideGrammar(`root ::= (${alternatives(19_900)})*`),
  },
  {
    promise: "Streams are not stalled",
    attack: "a grammar with 5,000 alternatives, which svc accepts",
    limit: "0.5 s",
    run: besideGrammar(`root ::= (${alternatives(4900)})*`),
  },
  {
    promise: "Disconnecting frees the engine",
    attack: "four clients with long prompts disconnect",
    limit: "0.5 s",
    model: "60m",
    run: left,
  },
  {
    promise: "Disconnecting frees the engine",
    attack: "two clients disconnect while their prompts of 3.9 MB are rendered",
    limit: "0.5 s",
    run: leftEarly,
  },
  {
    promise: "No request fails because of another's size",
    attack: "four answers, each of which fits the context (2,048 tokens), but not all together",
    limit: "all complete",
    model: "60m",
    ctx: 2048,
    run: crowded,
  },
  {
    promise: "Foreign web pages are refused (DNS rebinding)",
    attack: "a foreign name in Host",
    limit: "status 403",
    run: rebound,
  },
  {
    promise: "An engine crash does not stop the server",
    attack: "kill -9 of the process that computes",
    limit: "served again",
    run: killed,
  },
];

/** Runs each attack with a new server. */
export async function besideLlamaServer({ attack: part = "" }: Options): Promise<Row[]> {
  const sides: Side[] = existsSync(LLAMA_SERVER) ? ["svc", "llama-server"] : ["svc"];
  if (sides.length === 1) console.error("llama-server is not built (`bun build.ts bench`): only svc is attacked");
  const rows: Row[] = [];
  for (const one of ATTACKS.filter(({ attack }) => attack.includes(part))) {
    const { promise, attack, limit, run } = one;
    const results = new Map<Side, { readonly figure: string; readonly ok: boolean }>();
    for (const side of sides) {
      const server = await launch(plan(side, one));
      const failed = (error: unknown) => ({ figure: `failed: ${String(error).slice(0, 80)}`, ok: false });
      results.set(side, await run(server).catch(failed));
      await server.stop();
      console.error(`${attack}, ${side}: ${results.get(side)?.figure}`);
    }
    const own = results.get("svc");
    const theirs = results.get("llama-server");
    rows.push({
      promise,
      attack,
      figure: own?.figure ?? "",
      limit,
      ok: own?.ok ?? false,
      ...(theirs && { theirs: theirs.figure }),
    });
  }
  return rows;
}
