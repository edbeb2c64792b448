// An engine process that hangs: what clients see, and that it continues or is replaced.

import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { streamChat, type ChatStream } from "../support/chat-client.ts";
import { withServer, type TestServer } from "../support/server.ts";

setDefaultTimeout(120_000);

// A model that never ends on its own keeps its stream running as long as the test needs.
const model = makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));
const ID = "stopped-stream";
const FLAGS = ["--model", model, "--ctx", "4096", "--parallel", "2", "--heartbeat", "0.1"];

const ask = (content: string, maxTokens: number) => ({
  messages: [{ role: "user", content }],
  max_tokens: maxTokens,
});

/** Returns a whole answer as soon as one is available: a busy machine may delay an engine, too. */
async function served(server: TestServer): Promise<ChatStream> {
  for (;;) {
    const answer = await streamChat(server.url, ask("next", 4));
    if (answer.done && !answer.error) return answer;
    await Bun.sleep(50);
  }
}

/** Stops the engine in the middle of a stream; the rest of the stream is counted. */
async function stopMidStream(server: TestServer) {
  const begin = () =>
    server.post(
      "/v1/chat/completions",
      { ...ask("Tell a story.", 2000), stream: true },
      { headers: { "x-request-id": ID } },
    );
  let response = await begin();
  // A busy machine may delay a healthy engine that long.
  for (; response.status === 503; response = await begin()) await Bun.sleep(50);
  expect(response.status).toBe(200);
  const stream = { text: "", pings: 0, words: 0 };
  const read = async () => {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      const text = decoder.decode(bytes, { stream: true });
      stream.text += text;
      if (text.includes(": ping\n\n")) stream.pings++;
      if (text.includes('"content":')) stream.words++;
    }
    return stream.text;
  };
  const whole = read();
  while (stream.words < 2) await Bun.sleep(5);
  const pid = server.enginePid();
  process.kill(pid, "SIGSTOP");
  while ((await server.health()).engine.state !== "stalled") await Bun.sleep(20);
  return { stream, whole, goOn: () => process.kill(pid, "SIGCONT") };
}

test.concurrent(
  "an engine that is suspended and continues loses nothing; meanwhile it is reported as stalled and refuses",
  async () => {
    await withServer([...FLAGS, "--engine-timeout", "0"], async (server) => {
      const { stream, whole, goOn } = await stopMidStream(server);
      const health = await server.health();
      expect(health).toMatchObject({ status: "degraded", engine: { state: "stalled", restarts: 0 } });
      expect(health.engine.stalled_since).toBeLessThan(health.timestamp);
      expect(await server.metrics()).toMatch(/^svc_engine_stalled\{.*\} 1$/m);
      const refused = await server.post("/v1/chat/completions", ask("another", 4));
      expect(refused.status).toBe(503);
      expect(Number(refused.headers.get("retry-after"))).toBeGreaterThan(0);
      expect(await refused.json()).toMatchObject({ error: { code: "engine_unavailable" } });
      const { pings, words } = stream;
      while (stream.pings === pings) await Bun.sleep(20);
      goOn();
      while (stream.words === words) await Bun.sleep(20);
      await fetch(`${server.url}/v1/chat/completions/${ID}/cancel`, { method: "POST" });
      expect(await whole).toEndWith("data: [DONE]\n\n");
      expect(stream.text).not.toContain('"error"');
      await server.untilReady();
      expect(await server.health()).toMatchObject({ status: "healthy", engine: { state: "ready", restarts: 0 } });
    });
  },
);

test.concurrent(
  "an engine that hangs too long is replaced: its stream ends with an error, and the next request is served",
  async () => {
    await withServer([...FLAGS, "--engine-timeout", "9"], async (server) => {
      const { whole } = await stopMidStream(server);
      const text = await whole;
      expect(text).toContain('"code":"engine_crashed"');
      expect(text).toMatch(/gave no sign of life for \d+ s( \([a-z ]+\))? while computing this request/);
      expect(text).toEndWith("data: [DONE]\n\n");
      expect(await served(server)).toMatchObject({ finishReason: "length" });
      const { engine } = await server.health();
      expect(engine.restarts).toBeGreaterThan(0);
      expect(engine.last_error).toContain("gave no sign of life");
    });
  },
);
