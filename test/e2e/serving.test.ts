// The compiled binary as a server: answers, cancelling, and every way to stop.

import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { withSandbox } from "../support/binary.ts";
import { streamChat } from "../support/chat-client.ts";
import { post } from "../support/post.ts";
import { isAlive } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { until } from "../support/until.ts";

const QUESTION = { messages: [{ role: "user", content: "What is the capital of France?" }], temperature: 0 };

/** One thread, because several wait for each other on a busy machine. */
const MINI_FLAGS = ["--threads", "1"];

/** Returns a model that never ends on its own, for tests in the middle of an answer. */
const endless = () => makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));
const ENDLESS_FLAGS = ["--threads", "1", "--ctx", "8192", "--parallel", "4"];
setDefaultTimeout(60_000);

const serve = (flags: readonly string[], work: (server: TestServer) => Promise<void>) =>
  withSandbox(({ command }) => withServer(flags, work, command()));

/** Resolves when a process has ended; throws after ten seconds. */
const untilGone = (pid: number) => until(() => !isAlive(pid), 10_000);

test("the server reports health, and gives the same answer whole and as a stream with [DONE]", () =>
  serve(MINI_FLAGS, async (server) => {
    const { url } = server;
    expect(await server.health()).toMatchObject({ status: "healthy", engine: { state: "ready", restarts: 0 } });
    const response = await post(`${url}/v1/chat/completions`, QUESTION, { headers: { "x-request-id": "e2e-1" } });
    expect(response.status).toBe(200);
    expect(response.headers.get("x-request-id")).toBe("e2e-1");
    const answer = (await response.json()) as { choices: { message: { content: string } }[] };
    const content = answer.choices[0]?.message.content;
    expect(content).toContain("Paris");
    expect(await streamChat(url, QUESTION)).toMatchObject({ status: 200, text: content, done: true });
  }));

test("the server has the embedded documents: OpenAPI, the chat page and the page of the API", () =>
  serve(MINI_FLAGS, async ({ url }) => {
    const document = (await (await fetch(`${url}/openapi.json`)).json()) as { openapi: string; paths: object };
    expect(document.openapi).toStartWith("3.1");
    expect(Object.keys(document.paths)).toContain("/v1/chat/completions");
    for (const path of ["/", "/docs"]) {
      const page = await fetch(url + path, { headers: { accept: "text/html" } });
      expect(page.headers.get("content-type")).toContain("text/html");
      const files = [...(await page.text()).matchAll(/"(\/page\/[^"]+)"/g)].map(([, file = ""]) => file);
      expect(files.map((file) => file.split(".").at(-1)).toSorted()).toEqual(["css", "js", "svg"]);
      for (const file of files) {
        const response = await fetch(url + file);
        expect([response.status, response.headers.get("content-type")]).toEqual([
          200,
          expect.stringMatching(/javascript|css|svg/),
        ]);
        expect((await response.arrayBuffer()).byteLength).toBeGreaterThan(100);
      }
    }
  }));

test("cancelling ends a stream properly, and the engine becomes idle", () =>
  serve(["--model", endless(), ...ENDLESS_FLAGS], async (server) => {
    let cancelling: Promise<Response> | undefined;
    const response = await server.post(
      "/v1/chat/completions",
      { ...QUESTION, stream: true },
      { headers: { "x-request-id": "e2e-cancel" } },
    );
    let text = "";
    for await (const piece of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += piece;
      cancelling ??= fetch(`${server.url}/v1/chat/completions/e2e-cancel/cancel`, { method: "POST" });
    }
    expect((await cancelling)?.status).toBe(200);
    expect(text).toContain('"finish_reason":"cancelled"');
    expect(text.trimEnd()).toEndWith("data: [DONE]");
    await server.untilIdle(20_000);
  }));

test("after kill -9 of the engine the stream ends with an error and [DONE], and the next request is answered", () =>
  serve(["--model", endless(), ...ENDLESS_FLAGS], async (server) => {
    const engine = server.enginePid();
    const stream = await streamChat(server.url, QUESTION, {
      onText: () => isAlive(engine) && process.kill(engine, "SIGKILL"),
    });
    expect(stream).toMatchObject({ status: 200, done: true, error: { code: "engine_crashed" } });
    expect(await streamChat(server.url, { ...QUESTION, max_tokens: 4 })).toMatchObject({
      done: true,
      finishReason: "length",
    });
    expect(await server.health()).toMatchObject({ status: "healthy", engine: { restarts: 1 } });
  }));

test("SIGTERM leaves no engine behind", async () => {
  let engine = 0;
  await serve(MINI_FLAGS, async (server) => {
    engine = server.enginePid();
  });
  await untilGone(engine);
});

test("kill -9 of the server ends its engine, even in the middle of an answer", () =>
  withSandbox(async ({ command }) => {
    let engine = 0;
    const killed = withServer(
      ["--model", endless(), ...ENDLESS_FLAGS],
      async (server) => {
        engine = server.enginePid();
        await streamChat(server.url, QUESTION, {
          onText: () => isAlive(server.pid) && process.kill(server.pid, "SIGKILL"),
        });
      },
      command(),
    );
    await expect(killed).rejects.toThrow();
    await untilGone(engine);
  }));
