import { expect, test } from "bun:test";
import { createLogger, type LogFields, type LogLevel } from "../../src/telemetry/log.ts";

/** Returns the terminal line of a request, without the time. */
function shown(fields: LogFields, options: { readonly level?: LogLevel; readonly colours?: boolean } = {}): string {
  let written = "";
  const write = (line: string) => void (written += line);
  createLogger({ level: "info", format: "terminal", write, now: Date.now, ...options }).info("request", fields);
  return written.replace(/^\S*\d{4}-\d\d-\d\d \d\d:\d\d:\d\d\S* /, "").trimEnd();
}

const chat = { id: "req_1", method: "POST", route: "/v1/chat/completions", status: 200, client: "127.0.0.1", ms: 1742 };
const answered = {
  model: "qwen",
  finish: "stop",
  prompt: 1204,
  cached: 1100,
  completion: 86,
  ttft_ms: 120,
  tok_s: 54.2,
};

test("an answer shows status, time, route, model, tokens, first token and rate", () => {
  expect(shown({ ...chat, ...answered })).toBe(
    "200   1.74 s POST /v1/chat/completions qwen  1,204 prompt (1,100 cached)  86 output  first 120 ms  54.2 tok/s",
  );
});

test("a refusal shows code and field", () => {
  expect(shown({ ...chat, status: 400, ms: 3, code: "invalid_value", param: "messages.0.role" })).toBe(
    "400     3 ms POST /v1/chat/completions  invalid_value at messages.0.role",
  );
});

test("an unusual end and a failure after the status are shown", () => {
  expect(shown({ ...chat, ...answered, finish: "length" })).toEndWith("54.2 tok/s  length");
  expect(shown({ ...chat, finish: "engine_crashed" }, { colours: true })).toContain("\u001b[31mengine_crashed");
});

test("a live session that ended as intended is no failure, and how it ended is shown where that is unusual", () => {
  const live = { ...chat, method: "GET", route: "/v1/realtime", status: 101, ms: 95_000, seconds: 92.5 };
  expect(shown({ ...live, finish: "closed" })).toBe("101 1 m 35 s GET  /v1/realtime          92.5 seconds");
  for (const finish of ["limit", "shutdown"]) {
    expect(shown({ ...live, finish })).toEndWith(`/v1/realtime          ${finish}  92.5 seconds`);
    expect(shown({ ...live, finish }, { colours: true })).toStartWith("\u001b[32m101");
  }
  expect(shown({ ...live, finish: "failed" })).toEndWith("failed  92.5 seconds  req_1");
});

test("columns stay aligned for all routes", () => {
  expect(shown({ ...chat, method: "GET", route: "/v1/models", ms: 95_000 })).toBe("200 1 m 35 s GET  /v1/models");
  expect(shown({ ...chat, route: "/v1/embeddings", ms: 12, model: "minilm", prompt: 6 })).toBe(
    "200    12 ms POST /v1/embeddings       minilm  6 prompt",
  );
});

test("a client on another machine is shown with its name or address", () => {
  expect(shown({ ...chat, client: "ada", model: "qwen" })).toEndWith("qwen from ada");
  expect(shown({ ...chat, client: "192.168.1.7", model: "qwen" })).toEndWith("qwen from 192.168.1.7");
});

test("other counts of a route than tokens are shown", () => {
  expect(shown({ ...chat, model: "draw", finish: "stop", images: 2 })).toEndWith("draw  2 images");
});

test("ids are shown for failures of the server, and with -v", () => {
  expect(shown(chat)).not.toContain("req_1");
  expect(shown({ ...chat, status: 500, code: "internal_error" })).toEndWith("internal_error  req_1");
  expect(shown({ ...chat, finish: "engine_crashed" })).toEndWith("engine_crashed  req_1");
  expect(shown(chat, { level: "verbose" })).toEndWith("req_1");
});

test("nothing that a client sends moves the cursor", () => {
  expect(shown({ ...chat, client: "a\u001b[31mb\n", model: "m\u0007" })).not.toMatch(/\p{Cc}/u);
});

test("colours are used only on request", () => {
  expect(shown({ ...chat, ...answered })).not.toContain("\u001b");
  expect(shown({ ...chat, ...answered }, { colours: true })).toStartWith("\u001b[32m200\u001b[39m");
  expect(shown({ ...chat, status: 404 }, { colours: true })).toStartWith("\u001b[33m404");
  const tooLong = { ...chat, status: 400, code: "context_length_exceeded", finish: "context_length_exceeded" };
  expect(shown(tooLong, { colours: true })).toStartWith("\u001b[33m400");
  expect(shown({ ...chat, status: 503 }, { colours: true })).toStartWith("\u001b[31m503");
});

test("other lines have their level, message and fields", () => {
  let line = "";
  const log = createLogger({ level: "info", format: "terminal", write: (text) => void (line = text), now: Date.now });
  log.warn("engine\nstalled", { model: "a b", silent_ms: 7 });
  expect(line).toEndWith(' warn    engine stalled model="a b" silent_ms=7\n');
});
