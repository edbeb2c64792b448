// `bun test/gateway/stand-in.ts [port]`: a process that answers like a chat server of vLLM's kind: `max_tokens`
// tokens, one every few milliseconds. Like a real server it can be suspended and killed. It prints its address.

const TICK_MS = 5;
const encoder = new TextEncoder();
const event = (value: unknown) => encoder.encode(`data: ${JSON.stringify(value)}\n\n`);

const chunk = (delta: object, finish_reason: string | null = null) =>
  event({
    id: "chatcmpl-6f1d2b3c4d5e6f708192a3b4c5d6e7f8",
    object: "chat.completion.chunk",
    created: 1_790_000_000,
    model: "far",
    choices: [{ index: 0, delta, logprobs: null, finish_reason, token_ids: null }],
  });

const usage = (tokens: number) =>
  event({
    object: "chat.completion.chunk",
    choices: [],
    usage: { prompt_tokens: 9, completion_tokens: tokens, total_tokens: 9 + tokens },
  });

function answer(tokens: number): ReadableStream<Uint8Array> {
  let isWanted = true;
  return new ReadableStream({
    async start(controller) {
      controller.enqueue(chunk({ role: "assistant", content: "" }));
      for (let token = 0; token < tokens && isWanted; token++) {
        controller.enqueue(chunk({ content: ` word${token % 10}` }));
        if (tokens > 1) await Bun.sleep(TICK_MS);
      }
      if (!isWanted) return;
      controller.enqueue(chunk({}, "length"));
      controller.enqueue(usage(tokens));
      controller.enqueue(encoder.encode("data: [DONE]\n\n"));
      controller.close();
    },
    cancel: () => void (isWanted = false),
  });
}

const server = Bun.serve({
  port: Number(process.argv[2] ?? 0),
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    if (request.method !== "POST") return Response.json({ data: [{ id: "far", owned_by: "someone" }] });
    const { max_tokens: tokens } = (await request.json()) as { max_tokens: number };
    return new Response(answer(tokens), { headers: { "content-type": "text/event-stream; charset=utf-8" } });
  },
});
process.stdout.write(`http://127.0.0.1:${server.port}\n`);
