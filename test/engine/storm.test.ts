// Many clients disconnect at random points: the engine stops their work and nothing of them remains.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { streamChat } from "../support/chat-client.ts";
import { disconnectStorm } from "../support/storm.ts";
import { withServer } from "../support/server.ts";

const model = makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));

test("64 clients that disconnect at random points leave an idle engine and no trace", async () => {
  await withServer(["--model", model, "--ctx", "16384", "--parallel", "16"], async (server) => {
    const storm = await disconnectStorm(server.url, { clients: 64, longestStayMs: 2500, seed: 1 });
    expect(storm.failures).toEqual([]);
    // Most clients must disconnect during their answer, otherwise this test would show nothing.
    expect(storm.left).toBeGreaterThan(48);
    await server.untilIdle(5000);
    const after = await streamChat(server.url, {
      messages: [{ role: "user", content: "still there?" }],
      max_tokens: 8,
    });
    expect(after).toMatchObject({ status: 200, done: true, finishReason: "length" });
  });
}, 120_000);
