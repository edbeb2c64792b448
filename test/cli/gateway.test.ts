// The program in front of upstreams, started as a user would, without local computation.

import { expect, setDefaultTimeout, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { connect, type Socket } from "node:net";
import { join } from "node:path";
import type { Batch } from "../../src/contract/batches.ts";
import type { UpstreamList } from "../../src/contract/upstreams.ts";
import { chatServer, delta, eventStream, fixtureServer, helloStream, modelList } from "../gateway/fixture-server.ts";
import { create, many, never, on, untilStatus } from "../http/batch-client.ts";
import { temporaryFolder } from "../support/folders.ts";
import { post } from "../support/post.ts";
import { runSvc } from "../support/program.ts";
import { PROGRAM, startServer, withServer } from "../support/server.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(90_000);

test("--no-model with an upstream and a discovered server serves both, and stops cleanly", async () => {
  const [named, found] = [chatServer(helloStream), chatServer(helloStream)];
  const flags = ["--no-model", "--upstream", `up=${named.url}/v1`, "--gateway", "--gateway-port", String(found.port)];
  const server = await startServer(flags);
  const { url } = server;
  try {
    const listed = async () => {
      const { data } = (await (await fetch(`${url}/v1/models`)).json()) as { data: { id: string; owned_by: string }[] };
      // Embedding models and the system model are local even without a model.
      return data.filter((model) => model.owned_by !== "svc" && model.owned_by !== "system");
    };
    // svc answers before the upstreams have reported their models.
    let data = await listed();
    while (data.length < 2) data = await Bun.sleep(50).then(listed);
    expect(data.map(({ id }) => id)).toEqual(["up/far", `localhost:${found.port}/far`]);
    for (const { id: model } of data) {
      const answer = await post(
        `${url}/v1/chat/completions`,
        { model, messages: [{ role: "user", content: "hi" }] },
        { headers: { authorization: "Bearer of the client" } },
      );
      expect(await answer.json()).toMatchObject({ model, choices: [{ message: { content: "Hello" } }] });
    }
    for (const { asked } of [named, found]) expect(asked.at(-1)?.headers.get("authorization")).toBeNull();
    await server.stop();
  } finally {
    await server.kill();
  }
  expect(await server.kill()).toContain("2 models of upstreams");
});

test("lines without a model of the server before go to the first upstream, even if another lists its models sooner", async () => {
  const dataDir = temporaryFolder();
  const before = on(dataDir, { steps: [{ wait: never }] });
  const { id } = await create(before, many(20));
  await untilStatus(before, id, "in_progress");
  await before.stop();
  const first = fixtureServer(async ({ path }) => {
    if (path === "/v1/chat/completions") return helloStream();
    // Lines that find no model at all are tried again after five seconds.
    await Bun.sleep(7000);
    return path === "/v1/models" ? Response.json(modelList("late")) : undefined;
  });
  const second = chatServer(helloStream);
  const upstreams = ["--upstream", `first=${first.url}`, "--upstream", `second=${second.url}`];
  await withServer(["--no-model", ...upstreams, "--data-dir", dataDir], async ({ url }) => {
    const status = async () => ((await (await fetch(`${url}/v1/batches/${id}`)).json()) as Batch).status;
    await until(async () => (await status()) === "completed");
  });
  const chats = ({ asked }: typeof first) => asked.filter(({ path }) => path === "/v1/chat/completions").length;
  expect([first, second].map(chats)).toEqual([20, 0]);
});

test("a slow upstream with hundreds of requests holds up no other", async () => {
  const never = new Promise<Response>(() => {});
  const [slow, other] = [chatServer(() => never), chatServer(helloStream)];
  const body = (model: string) => JSON.stringify({ model, messages: [{ role: "user", content: "hi" }] });
  const held: Socket[] = [];
  await withServer(
    ["--no-model", "--upstream", `slow=${slow.url}`, "--upstream", `other=${other.url}`],
    async ({ url, port }) => {
      // `fetch` of this process has the same limit.
      for (let number = 0; number < 300; number++) {
        const socket = connect(port, "127.0.0.1");
        socket.on("error", () => {});
        socket.write(`POST /v1/chat/completions HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\n`);
        socket.write(`Content-Length: ${body("slow/far").length}\r\n\r\n${body("slow/far")}`);
        held.push(socket);
      }
      await until(() => slow.asked.filter(({ path }) => path === "/v1/chat/completions").length === 300, 20_000);
      const answer = await fetch(`${url}/v1/chat/completions`, { method: "POST", body: body("other/far") });
      expect(await answer.json()).toMatchObject({ choices: [{ message: { content: "Hello" } }] });
      for (const socket of held) socket.destroy();
    },
  );
});

test("the log says at which replica a request failed and why, and the client learns no address", async () => {
  const far = chatServer(({ body }) => {
    const isStream = body["stream"] === true;
    return isStream && String(JSON.stringify(body["messages"])).includes("break")
      ? eventStream([delta({ content: "Hel" })], { done: false })
      : Response.json({ error: { message: "secret" } }, { status: 500 });
  });
  const server = await startServer(["--no-model", "--upstream", `up=${far.url}`, "--log-level", "verbose"]);
  let log = "";
  try {
    for (const [content, stream] of [
      ["fail", false],
      ["break", true],
    ] as const) {
      const body = JSON.stringify({ model: "up/far", stream, messages: [{ role: "user", content }] });
      const answer = await (await fetch(`${server.url}/v1/chat/completions`, { method: "POST", body })).text();
      expect(answer).toContain('"code":"upstream_error"');
      expect(answer).not.toContain(far.url);
    }
    await server.stop();
  } finally {
    log = await server.kill();
  }
  const lines = log.split("\n").filter((line) => line.includes(`replica=${far.url}`));
  const attempts = lines.filter((line) => line.includes("upstream attempt failed"));
  expect(attempts[0]).toContain('why="The server of this model failed (500)."');
  expect(lines.filter((line) => /info +request .*upstream_error/.test(line))).toHaveLength(2);
  expect(log).not.toContain("secret");
});

test("embeddings come from an upstream when a request names one", async () => {
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
});

test("a single answer on the command line needs a local model", async () => {
  const { code, err } = await runSvc(["--no-model", "-s", "hi"], { env: { HOME: "/nonexistent" } });
  expect([code, err]).toEqual([2, expect.stringContaining("--no-model")]);
});

test("SIGHUP reloads the upstreams, keeps them when the file is invalid, and svc upstreams lists them", async () => {
  const [first, second] = [chatServer(helloStream), chatServer(helloStream)];
  const folder = temporaryFolder();
  const file = join(folder, "config.toml");
  const write = (upstreams: readonly string[]) => writeFileSync(file, `upstream = ${JSON.stringify(upstreams)}\n`);
  write([`up=${first.url}`]);
  // A key stays in the environment when its upstream is removed from the file.
  const server = await startServer(["--no-model", "--config", file, "--upstream-key", "other=k"]);
  const replicas = async () => {
    const { data } = (await (await fetch(`${server.url}/upstreams`)).json()) as UpstreamList;
    return data.flatMap(({ name, replicas: all }) => all.map(({ url }) => `${name} ${url}`));
  };
  const reloaded = async (count: number) => {
    process.kill(server.pid, "SIGHUP");
    while ((await replicas()).length !== count) await Bun.sleep(20);
  };
  let log = "";
  try {
    expect(await replicas()).toEqual([`up ${first.url}`]);
    write([`up=${first.url}`, `up=${second.url}`, `other=${second.url}`]);
    await reloaded(3);
    expect(await replicas()).toEqual([`up ${first.url}`, `up ${second.url}`, `other ${second.url}`]);
    writeFileSync(file, 'upstream = ["up"]\n');
    process.kill(server.pid, "SIGHUP");
    await server.untilLogged("the configuration cannot be reloaded");
    expect(await replicas()).toHaveLength(3);
    const keys = join(folder, "keys");
    writeFileSync(keys, "ada=first\n");
    const limits = `max-queue = 3\napi-key-file = ["${keys}"]\n`;
    writeFileSync(file, `upstream = ["up=${second.url}", "up=${second.url}/nowhere"]\n${limits}`);
    await reloaded(2);
    await server.untilLogged('does not list its models upstream=up well=1 of=2 why="');
    await server.untilLogged("other changed options need a restart options=api-key,max-queue\n");
    write([`up=${second.url}`]);
    await reloaded(1);
    const upstreams = async (...flags: readonly string[]) => {
      const args = ["upstreams", "--port", String(server.port), ...flags];
      const { out, ...ended } = await runSvc(args, { env: { HOME: "/nonexistent" } });
      return { rows: out.split("\n"), ...ended };
    };
    const { rows } = await upstreams();
    expect(rows[0]).toMatch(/^NAME +REPLICA +KIND +STATE/);
    expect(rows[1]).toMatch(new RegExp(`^up +${second.url} +openai +up +0 +0 +0`));
    expect((await upstreams("--drain", "up", "--replica", second.url)).rows[1]).toContain(" drained ");
    expect((await upstreams("--resume", "up")).rows[1]).toContain(" up ");
    const unknown = await upstreams("--drain", "nobody");
    expect([unknown.code, unknown.err]).toEqual([1, expect.stringContaining("no such upstream")]);
    await server.stop();
  } finally {
    log = await server.kill();
  }
  expect(log.match(/upstreams reloaded/g)).toHaveLength(3);
});

test.skipIf(process.platform === "win32")("a configuration from a pipe holds, also at SIGHUP", async () => {
  const far = chatServer(helloStream);
  const script = 'exec "$@" --config <(printf "%s\\n" "$0") --api-key-file <(echo ada=secret)';
  const server = await startServer(
    [],
    ["bash", "-c", script, `upstream = ["up=${far.url}"]\nno-model = true`, ...PROGRAM],
  );
  const list = () => fetch(`${server.url}/upstreams`, { headers: { authorization: "Bearer secret" } });
  try {
    expect((await fetch(`${server.url}/upstreams`)).status).toBe(401);
    expect(await (await list()).json()).toMatchObject({ data: [{ name: "up" }] });
    process.kill(server.pid, "SIGHUP");
    await server.untilLogged("--config is a pipe, which was read at the start");
    expect(await (await list()).json()).toMatchObject({ data: [{ name: "up" }] });
    await server.stop();
  } finally {
    await server.kill();
  }
});
