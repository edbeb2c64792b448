// Kills the engine process in the middle of work: clients are informed, and the server recovers.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { streamChat } from "../support/chat-client.ts";
import { withServer } from "../support/server.ts";

// A model that never ends on its own keeps all streams running until the kill.
const model = makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));

const ask = (content: string, maxTokens: number) => ({
  messages: [{ role: "user", content }],
  max_tokens: maxTokens,
});

test("after kill -9 of the engine, running streams end with an error, queued requests are served, and the server recovers", async () => {
  await withServer(["--model", model, "--ctx", "16384", "--parallel", "8"], async (server) => {
    const killed = server.enginePid();
    let writing = 0;
    const allWrite = Promise.withResolvers<void>();
    const running = Array.from({ length: 8 }, (_, index) => {
      let isFirst = true;
      const onText = () => {
        if (isFirst && ++writing === 8) allWrite.resolve();
        isFirst = false;
      };
      return streamChat(server.url, ask(`stream ${index}`, 1500), { onText });
    });
    await allWrite.promise;
    const queued = Array.from({ length: 4 }, (_, index) => streamChat(server.url, ask(`queued ${index}`, 8)));
    while ((await server.levels()).waiting < 4) await Bun.sleep(10);

    process.kill(killed, "SIGKILL");

    for (const stream of await Promise.all(running)) {
      expect(stream).toMatchObject({
        status: 200,
        done: true,
        error: { code: "engine_crashed", type: "server_error" },
      });
      expect(stream.text).not.toBe("");
    }
    const health = await server.health();
    expect(health.engine.last_error).toContain("SIGKILL");
    for (const stream of await Promise.all(queued)) {
      expect(stream).toMatchObject({ status: 200, done: true, finishReason: "length" });
      expect(stream.error).toBeUndefined();
    }
    expect(await streamChat(server.url, ask("after", 8))).toMatchObject({ done: true, finishReason: "length" });
    expect(await server.health()).toMatchObject({ status: "healthy", engine: { state: "ready", restarts: 1 } });
    expect(server.enginePid()).not.toBe(killed);
    await server.untilIdle(5000);
  });
}, 120_000);
