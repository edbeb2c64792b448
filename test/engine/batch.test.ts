// Batches on the real program: killed in the middle (`npm run test:batch-kill`: many times), and beside somebody who chats.

import { expect, setDefaultTimeout, test } from "bun:test";
import { randomNumbers } from "../support/dice.ts";
import { chats, killBatch } from "../support/batch-kill.ts";
import { temporaryFolder } from "../support/folders.ts";
import { withServer } from "../support/server.ts";

setDefaultTimeout(300_000);

test("every line is answered once, however often the server is killed", async () => {
  const dataDir = temporaryFolder();
  const result = await killBatch({ lines: 120, kills: 1, random: randomNumbers(7), dataDir, task: chats });
  expect(result.faults).toEqual([]);
  expect(result.kills).toBeGreaterThan(0);
});

test("a chat beside a batch does not wait, on a server without a queue", async () => {
  const dataDir = temporaryFolder();
  const flags = ["--data-dir", dataDir, "--ctx", "4096", "--threads", "1", "--parallel", "2", "--max-queue", "0"];
  const messages = [{ role: "user", content: "Tell me a story." }];
  const body = { messages, ignore_eos: true, max_tokens: 300 };
  const lines = Array.from({ length: 200 }, (_, index) =>
    JSON.stringify({ custom_id: String(index), method: "POST", url: "/v1/chat/completions", body }),
  );
  await withServer(flags, async (server) => {
    const post = async (path: string, content: string, type = "application/json") =>
      fetch(server.url + path, { method: "POST", body: content, headers: { "content-type": type } });
    const read = async (response: Response) => (await response.json()) as { id: string; status: string };
    const file = await read(await post("/v1/files", lines.join("\n"), "application/jsonl"));
    const asked = { input_file_id: file.id, endpoint: "/v1/chat/completions" };
    const { id } = await read(await post("/v1/batches", JSON.stringify(asked)));
    while ((await server.levels()).running < 2) await Bun.sleep(10);
    for (let turn = 0; turn < 5; turn++) {
      const answer = await post("/v1/chat/completions", JSON.stringify({ messages, max_tokens: 8 }));
      expect(answer.status).toBe(200);
    }
    const batch = await read(await fetch(`${server.url}/v1/batches/${id}`));
    expect(batch.status).toBe("in_progress");
    expect((await post(`/v1/batches/${id}/cancel`, "")).status).toBe(200);
    await server.untilIdle(20_000);
  });
});
