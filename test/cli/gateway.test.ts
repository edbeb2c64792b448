// The program in front of other servers: started as a user starts it, with nothing computed here.

import { expect, test } from "bun:test";
import { join } from "node:path";
import { chatServer, fixtureServer, helloStream, modelList } from "../gateway/fixture-server.ts";
import { startServer, withServer } from "../support/server.ts";

const MAIN = join(import.meta.dir, "../../src/main.ts");

test("--no-model with an upstream and with a found server serves both, and ends in order", async () => {
  const [named, found] = [chatServer(helloStream), chatServer(helloStream)];
  const flags = ["--no-model", "--upstream", `up=${named.url}/v1`, "--gateway", "--gateway-port", String(found.port)];
  const server = await startServer(flags);
  const { url } = server;
  try {
    const listed = async () => {
      const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string; owned_by: string }[] };
      // Models for vectors and the system model are here without a model of its own too.
      return data.filter((model) => model.owned_by !== "svc" && model.owned_by !== "system");
    };
    // It answers before the others have told what they have.
    let data = await listed();
    while (data.length < 2) data = await Bun.sleep(50).then(listed);
    expect(data.map(({ id }) => id)).toEqual(["up/far", `localhost:${found.port}/far`]);
    for (const { id: model } of data) {
      const answer = await fetch(`${url}/v1/chat/completions`, {
        method: "POST",
        headers: { "content-type": "application/json", authorization: "Bearer of the client" },
        body: JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] }),
      });
      expect(await answer.json()).toMatchObject({ model, choices: [{ message: { content: "Hello" } }] });
    }
    for (const { asked } of [named, found]) expect(asked.at(-1)?.headers.get("authorization")).toBeNull();
    await server.stop();
  } finally {
    await server.kill();
  }
  expect(await server.kill()).toContain("2 models of other servers");
}, 90_000);

test("its embeddings are those of an upstream where a request names one", async () => {
  const far = fixtureServer(({ path }) => {
    if (path === "/v1/models") return Response.json(modelList("bge-m3"));
    return path === "/v1/embeddings" ? Response.json({ data: [{ index: 0, embedding: [3, 4] }] }) : undefined;
  });
  await withServer(["--no-model", "--upstream", `up=${far.url}`], async ({ url }) => {
    const body = JSON.stringify({ model: "up/bge-m3", input: "hi" });
    const answer = await fetch(`${url}/v1/embeddings`, { method: "POST", body });
    expect(await answer.json()).toMatchObject({ model: "up/bge-m3", data: [{ embedding: [3, 4] }] });
    expect(((await (await fetch(`${url}/v1/models/up/bge-m3`)).json()) as { id: string }).id).toBe("up/bge-m3");
  });
}, 90_000);

test("one answer needs a model here", async () => {
  const child = Bun.spawn([process.execPath, MAIN, "--no-model", "-s", "hi"], {
    env: { HOME: "/nonexistent" },
    stdin: "ignore",
    stdout: "pipe",
    stderr: "pipe",
  });
  expect([await child.exited, await child.stderr.text()]).toEqual([2, expect.stringContaining("--no-model")]);
}, 30_000);
