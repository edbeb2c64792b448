// A server of models that answer as the last message requests, which no small model does reliably.

import { ARABIC, EVERYTHING, HOSTILE } from "./texts.ts";

type Delta = Readonly<Record<string, unknown>>;

const CALL = [
  { index: 0, id: "call_1", type: "function", function: { name: "weather", arguments: '{"city": "Paris", ' } },
  { index: 0, function: { arguments: '"unit": "celsius"}' } },
];

interface Asked {
  readonly stream?: boolean;
  readonly messages: readonly { readonly role: string; readonly content: unknown }[];
}

async function* deltas({ messages }: Asked): AsyncGenerator<Delta> {
  const { role, content } = messages.at(-1) ?? { role: "", content: "" };
  const text = typeof content === "string" ? content : JSON.stringify(content);
  if (role === "tool") yield { content: `It is ${text} in Paris.` };
  else if (text.includes("weather")) {
    yield { content: "Let me look." };
    for (const call of CALL) {
      yield { tool_calls: [call] };
      if (text.includes("slowly")) await Bun.sleep(5000);
    }
  } else if (text.includes("endless")) {
    for (let number = 1; number < 10_000; number++) {
      yield { content: `word${number} ` };
      await Bun.sleep(20);
    }
  } else if (text.includes("think")) {
    yield { reasoning_content: "The user wants a sum. " };
    await Bun.sleep(300);
    yield { reasoning_content: "Two and two are four." };
    yield { content: "It is **4**." };
  } else if (text.includes("degenerate")) {
    for (const sign of [">", "- ", "1. "]) yield { content: `${sign.repeat(4000)}\n\n` };
  } else if (text.includes("steps")) {
    yield { content: "1. Say so:\n\n   ```python\n   print(1)\n   ```\n\n2. Quote it:\n   > ```\n   > 1\n   > ```\n" };
  } else if (text.includes("شرح")) yield { content: ARABIC };
  else if (text.includes("hostile")) yield { content: HOSTILE };
  else if (text.includes("everything")) {
    for (const piece of EVERYTHING.match(/[^]{1,12}/g) ?? []) {
      yield { content: piece };
      await Bun.sleep(2);
    }
  } else yield { content: `You said: ${text}` };
}

const chunk = (delta: Delta, finish: string | null = null) =>
  `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "script", choices: [{ index: 0, delta, finish_reason: finish }] })}\n\n`;

async function* stream(asked: Asked): AsyncGenerator<string> {
  let finish = "stop";
  for await (const delta of deltas(asked)) {
    if ("tool_calls" in delta) finish = "tool_calls";
    yield chunk(delta);
  }
  yield chunk({}, finish);
  const usage = { prompt_tokens: 21, completion_tokens: 34, total_tokens: 55 };
  yield `data: ${JSON.stringify({ id: "x", object: "chat.completion.chunk", created: 1, model: "script", choices: [], usage })}\n\n`;
  yield "data: [DONE]\n\n";
}

/** As long as those of many files. */
const LONG = "an-organisation-with-a-long-name/A-Model-With-A-Long-Name-30B-A3B-Instruct-2507-GGUF-Q4_K_M";

/** Starts the server, which runs until it is stopped. */
export const scriptedModel = () =>
  Bun.serve({
    hostname: "127.0.0.1",
    port: 0,
    idleTimeout: 0,
    routes: {
      "/v1/models": () =>
        Response.json({ object: "list", data: ["script", LONG].map((id) => ({ id, object: "model", created: 1 })) }),
      "/v1/chat/completions": async (request) =>
        new Response(stream((await request.json()) as Asked), { headers: { "Content-Type": "text/event-stream" } }),
    },
    fetch: () => new Response(null, { status: 404 }),
  });
