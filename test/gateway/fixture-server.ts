// A server on a free loopback port that answers as a test specifies and records its requests.

import { afterEach } from "bun:test";

export interface Asked {
  readonly path: string;
  readonly headers: Headers;
  readonly body: Record<string, unknown>;
}

export interface FixtureServer {
  readonly url: string;
  readonly port: number;
  readonly asked: Asked[];
  /** Requests whose connection the client closed before the answer was complete. */
  readonly left: string[];
  stop(): Promise<void>;
}

type Answer = (asked: Asked, request: Request) => Response | undefined | Promise<Response | undefined>;

const running = new Set<FixtureServer>();
afterEach(async () => {
  await Promise.all([...running].map((server) => server.stop()));
  running.clear();
});

/** Starts a server; paths for which `answer` returns undefined are 404. */
export function fixtureServer(answer: Answer, port = 0): FixtureServer {
  const asked: Asked[] = [];
  const left: string[] = [];
  const server = Bun.serve({
    hostname: "127.0.0.1",
    port,
    idleTimeout: 0,
    async fetch(request) {
      const path = new URL(request.url).pathname;
      const body = request.method === "POST" ? ((await request.json()) as Record<string, unknown>) : {};
      const one = { path, headers: request.headers, body };
      asked.push(one);
      request.signal.addEventListener("abort", () => left.push(path));
      return (await answer(one, request)) ?? Response.json({ error: { message: "no such route" } }, { status: 404 });
    },
  });
  const fixture: FixtureServer = {
    url: `http://127.0.0.1:${server.port}`,
    port: server.port ?? 0,
    asked,
    left,
    stop: () => server.stop(true),
  };
  running.add(fixture);
  return fixture;
}

export const modelList = (...ids: string[]) => ({
  object: "list",
  data: ids.map((id) => ({ id, object: "model", created: 1_700_000_000, owned_by: "someone" })),
});

/** Returns a stream of these chunks; `hold` keeps it open afterwards. */
export function eventStream(chunks: readonly unknown[], { done = true, hold = false } = {}): Response {
  const encoder = new TextEncoder();
  const body = new ReadableStream({
    start(controller) {
      for (const chunk of chunks) controller.enqueue(encoder.encode(`data: ${JSON.stringify(chunk)}\n\n`));
      if (hold) return;
      if (done) controller.enqueue(encoder.encode("data: [DONE]\n\n"));
      controller.close();
    },
  });
  return new Response(body, { headers: { "content-type": "text/event-stream" } });
}

/** Returns one chunk of a chat completion. */
export const delta = (fields: Record<string, unknown>, finish: string | null = null) => ({
  object: "chat.completion.chunk",
  choices: [{ index: 0, delta: fields, finish_reason: finish }],
});

export const usage = (prompt: number, completion: number) => ({
  choices: [],
  usage: {
    prompt_tokens: prompt,
    completion_tokens: completion,
    total_tokens: prompt + completion,
    prompt_tokens_details: { cached_tokens: 3 },
  },
});

/** Starts an OpenAI-compatible server with one model whose chat answers come from `answer`. */
export const chatServer = (answer: (asked: Asked, request: Request) => Response | Promise<Response>, port?: number) =>
  fixtureServer((asked, request) => {
    if (asked.path === "/v1/models") return Response.json(modelList("far"));
    return asked.path === "/v1/chat/completions" || asked.path === "/v1/completions"
      ? answer(asked, request)
      : undefined;
  }, port);

/** Starts a server of the kind that `owner` indicates, with the model `far`. */
export const serverOf = (owner: string, answer: Parameters<typeof chatServer>[0]) =>
  fixtureServer((asked, request) => {
    if (asked.path === "/v1/models") return Response.json({ data: [{ id: "far", owned_by: owner }] });
    return asked.path === "/v1/chat/completions" ? answer(asked, request) : undefined;
  });

/** Returns a stream of "Hello" in two pieces. */
export const helloStream = () =>
  eventStream([
    delta({ role: "assistant", content: "" }),
    delta({ content: "Hel" }),
    delta({ content: "lo" }),
    delta({}, "stop"),
    usage(7, 2),
  ]);
