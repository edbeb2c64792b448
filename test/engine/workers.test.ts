// One model over several processes of `svc worker`: the same answers as in one process, and what clients see when one of them
// goes away.

import { expect, setDefaultTimeout, test } from "bun:test";
import { connect } from "node:net";
import { streamChat } from "../support/chat-client.ts";
import { freePort } from "../support/free-port.ts";
import { runSvc } from "../support/program.ts";
import { withServer } from "../support/server.ts";
import { addressOf, ask, SPREAD_FLAGS, textsOf, twoWorkers } from "../support/spread.ts";
import { until } from "../support/until.ts";
import { startWorker } from "../support/worker.ts";

// Other processes may have the cores.
setDefaultTimeout(120_000);

const workers = twoWorkers();

test("two workers answer as one process does", async () => {
  const alone = await textsOf([...SPREAD_FLAGS, ...workers.oneProcess()]);
  expect(await textsOf([...SPREAD_FLAGS, ...workers.flags()])).toEqual(alone);
});

test("a worker that is killed ends its stream with a typed error; the model goes on without it", async () => {
  const third = await startWorker();
  await withServer(
    [...SPREAD_FLAGS, "--worker", addressOf(workers.first), "--worker", addressOf(third)],
    async (server) => {
      const expected = await streamChat(server.url, ask("Tell a story.", 20));
      let killed: Promise<void> | undefined;
      const onText = () => (killed ??= third.kill());
      const stream = await streamChat(server.url, ask("Tell a story.", 3000), { onText });
      expect(stream).toMatchObject({
        status: 200,
        done: true,
        error: { code: "engine_crashed", type: "server_error" },
      });
      await killed;
      const next = await streamChat(server.url, ask("Tell a story.", 20));
      expect(next).toMatchObject({ status: 200, done: true, finishReason: "length", text: expected.text });
      await server.untilReady();
      const { status, engine } = await server.health();
      expect(status).toBe("healthy");
      expect(engine).toMatchObject({ state: "ready", restarts: 1 });
      expect(engine.device).toStartWith(`worker ${addressOf(workers.first)}, CPU`);
    },
  );
});

test("who is not on the list is refused at once, also while another is served", async () => {
  const third = await startWorker("--allow", "127.0.0.2,10.0.0.0/8");
  // Resolves with whether the worker answers a greeting.
  const greet = (localAddress: string) =>
    new Promise<boolean>((resolve) => {
      const socket = connect({ host: "127.0.0.1", port: third.port, localAddress });
      const hello = new Uint8Array(33);
      [hello[0], hello[1]] = [14, 24];
      socket.write(hello);
      socket.once("data", () => resolve(true)).once("close", () => resolve(false));
      socket.on("error", () => {});
    });
  expect(await greet("127.0.0.1")).toBe(false);
  expect(await greet("127.0.0.2")).toBe(true);
  // That one is connected still.
  expect(await greet("127.0.0.1")).toBe(false);
  await until(() => third.output().includes("refused 127.0.0.1, which --allow does not name"));
  expect(await third.stop()).toBe(0);
});

test("a worker that cannot be used is named at the start", async () => {
  const port = await freePort();
  expect(await runSvc([...SPREAD_FLAGS, "--port", "0", "--worker", `127.0.0.1:${port}`])).toMatchObject({
    code: 3,
    err: `svc: The worker 127.0.0.1:${port} cannot be reached (ECONNREFUSED).\n`,
  });
  expect(await runSvc(["worker", "--host", "0.0.0.0"])).toMatchObject({
    code: 2,
    err: expect.stringContaining("--allow"),
  });
  expect(await runSvc(["worker", "--port", String(workers.first.port)])).toMatchObject({
    code: 4,
    err: expect.stringContaining(`cannot listen on 127.0.0.1:${workers.first.port}`),
  });
});
