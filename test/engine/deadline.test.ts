// --queue-timeout and X-Svc-Deadline-Ms on a real engine: requests that end early leave nothing behind.

import { expect, setDefaultTimeout, test } from "bun:test";
import { streamChat } from "../support/chat-client.ts";
import { metricValue } from "../support/metrics-text.ts";
import { sharedServer } from "../support/shared-server.ts";

setDefaultTimeout(60_000);

const server = sharedServer("--ctx", "8192", "--threads", "1", "--parallel", "1", "--queue-timeout", "1");

const endless = { messages: [{ role: "user", content: "Tell me a story." }], ignore_eos: true, max_tokens: 7900 };

test("a request that waits too long behind a long answer fails, streamed or not, and the answer goes on", async () => {
  const leave = new AbortController();
  const begun = Promise.withResolvers<void>();
  const held = streamChat(server.url, endless, { signal: leave.signal, onText: () => begun.resolve() });
  held.catch(() => {});
  await begun.promise;
  const [streamed, plain] = await Promise.all([
    streamChat(server.url, endless, { headers: { "X-Svc-Client": "other" } }),
    fetch(`${server.url}/v1/chat/completions`, { method: "POST", body: JSON.stringify(endless) }),
  ]);
  expect(streamed).toMatchObject({ status: 200, done: true, error: { code: "server_busy" } });
  expect(plain.status).toBe(503);
  expect(plain.headers.get("retry-after")).toMatch(/^[1-9]\d*$/);
  await plain.text();
  expect((await server.levels()).running).toBe(1);
  leave.abort();
  await server.untilIdle(5000);
  expect(await server.metrics()).toMatch(/svc_admission_rejections_total\{[^}]*reason="queue_timeout"\} 2\n/);
});

test("an answer ends at its deadline with the text so far, and one without text by then is an error", async () => {
  // Long enough for a first token on any machine, too short for 8000 tokens.
  const cut = await streamChat(server.url, endless, { headers: { "X-Svc-Deadline-Ms": "3000" } });
  expect(cut).toMatchObject({ status: 200, finishReason: "length", error: undefined, done: true });
  expect(cut.text).not.toBe("");
  const none = await streamChat(server.url, endless, { headers: { "X-Svc-Deadline-Ms": "1" } });
  expect(["deadline_exceeded", "server_busy"]).toContain(none.error?.code ?? "");
  await server.untilIdle(5000);
  expect(metricValue(await server.metrics(), "svc_request_failure_total")).toBeGreaterThanOrEqual(2);
});
