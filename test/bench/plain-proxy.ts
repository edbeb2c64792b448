// `bun test/bench/plain-proxy.ts URL [ms]`: a proxy that copies the bytes of chat completions without parsing them, to
// compare with the cost of svc in the same place; with `ms`, it reads all streams only every so many milliseconds.
// Prints its address; GET /cpu returns the CPU time of its process in seconds.

const [upstream, ms] = process.argv.slice(2);
let turn: Promise<void> | undefined;

const nextTurn = () =>
  (turn ??= Bun.sleep(Number(ms)).then(() => {
    turn = undefined;
  }));

const proxy = Bun.serve({
  port: 0,
  hostname: "127.0.0.1",
  idleTimeout: 0,
  async fetch(request) {
    if (request.method !== "POST") {
      const { user, system } = process.cpuUsage();
      return Response.json((user + system) / 1e6);
    }
    const headers = { "content-type": "application/json" };
    const answer = await fetch(`${upstream}/v1/chat/completions`, {
      method: "POST",
      headers,
      body: await request.text(),
    });
    const reader = answer.body?.getReader();
    // Piece by piece through JavaScript, which is the least that any inspection of an answer needs.
    const body = new ReadableStream<Uint8Array>(
      {
        async pull(controller) {
          if (ms) await nextTurn();
          const { value } = (await reader?.read()) ?? {};
          if (value) controller.enqueue(value);
          else controller.close();
        },
        cancel: () => reader?.cancel(),
      },
      { highWaterMark: 0 },
    );
    return new Response(body, { headers: { "content-type": "text/event-stream" } });
  },
});
process.stdout.write(`http://127.0.0.1:${proxy.port}\n`);
