// How a server stops: when all its processes are signalled, when signals repeat, and while it waits for others.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, mkdirSync, readFileSync } from "node:fs";
import { createServer } from "node:net";
import { join } from "node:path";
import { sharedFolder } from "../support/folders.ts";
import { killAtExit } from "../support/kill-at-exit.ts";
import { ownEnvironment } from "../support/own-environment.ts";
import { post } from "../support/post.ts";
import { childrenOf } from "../support/processes.ts";
import { PROGRAM } from "../support/server.ts";

setDefaultTimeout(60_000);

const home = sharedFolder();

function start(...args: string[]) {
  const env = ownEnvironment({ HOME: home });
  const child = Bun.spawn([...PROGRAM, ...args], {
    env,
    stdin: "ignore",
    stdout: "ignore",
    stderr: "pipe",
  });
  void child.exited.then(killAtExit(child));
  return child;
}

async function ready(child: ReturnType<typeof start>, file: string): Promise<string> {
  while (!existsSync(file)) {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${await child.stderr.text()}`);
    await Bun.sleep(20);
  }
  return readFileSync(file, "utf8").trim();
}

/** Starts a server and a stream of it; `rest` resolves to all of the stream. */
async function streaming() {
  const file = join(home, `ready-${crypto.randomUUID()}`);
  const child = start("serve", "--port", "0", "--ctx", "4096", "--drain-timeout", "60", "--ready-file", file);
  const url = await ready(child, file);
  const response = await post(`${url}/v1/chat/completions`, {
    messages: [{ role: "user", content: "Tell me a story." }],
    stream: true,
    ignore_eos: true,
    max_tokens: 600,
  });
  const chunks = response.body?.getReader();
  if (!chunks) throw new Error("no stream");
  let text = "";
  const more = async () => {
    const { done, value } = await chunks.read();
    if (!done) text += Buffer.from(value).toString();
    return !done;
  };
  // Work that has not begun would go to the engine's successor.
  while (!/"content":"[^"]/.test(text) && (await more()));
  const rest = (async () => {
    while (await more());
    return text;
  })();
  return { child, url, rest, file };
}

/** Signals a server and its engines, as a signal to their group does. */
function signalAll({ pid: server }: ReturnType<typeof start>, signal: NodeJS.Signals): void {
  for (const pid of [...childrenOf(server), server]) process.kill(pid, signal);
}

const whole = (text: string) => text.includes('"finish_reason":"length"') && text.endsWith("data: [DONE]\n\n");

describe.skipIf(process.platform === "win32")("a stream goes on to its end (POSIX signals)", () => {
  test("when all processes are asked to end, as service managers do", async () => {
    const { child, rest, file } = await streaming();
    signalAll(child, "SIGTERM");
    expect(whole(await rest)).toBeTrue();
    expect(await child.exited).toBe(0);
    expect(existsSync(file)).toBeFalse();
  });

  test("when the signal comes twice, as timeout sends it; a later one ends the server at once", async () => {
    const { child, rest } = await streaming();
    child.kill("SIGTERM");
    child.kill("SIGTERM");
    await Bun.sleep(400);
    expect(child.exitCode).toBeNull();
    child.kill("SIGTERM");
    await rest.catch(() => {});
    expect(await child.exited).toBe(1);
  });

  test("when the processes of a closed terminal are told of it", async () => {
    const { child, rest, url } = await streaming();
    signalAll(child, "SIGHUP");
    expect(whole(await rest)).toBeTrue();
    expect((await fetch(`${url}/health`)).status).toBe(200);
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
  });
});

test("a server whose log nobody reads any more goes on, and ends with 0 when it is asked to", async () => {
  const file = join(home, "unread");
  const child = start("serve", "--port", "0", "--no-model", "--ready-file", file);
  const url = await ready(child, file);
  await child.stderr.cancel();
  for (let number = 0; number < 2; number++) {
    // Each is a line of the log.
    expect((await fetch(`${url}/nowhere`)).status).toBe(404);
    await Bun.sleep(50);
  }
  child.kill("SIGTERM");
  expect(await child.exited).toBe(0);
});

describe("the file of --ready-file", () => {
  test("is not written by a server that stops before it is ready, and nothing delays its end", async () => {
    const silent = createServer(() => {});
    await new Promise<void>((resolve) => void silent.listen(0, "127.0.0.1", resolve));
    const { port } = silent.address() as { port: number };
    const file = join(home, "never");
    const child = start(
      "serve",
      "--port",
      "0",
      "--no-model",
      "--upstream",
      `far=http://127.0.0.1:${port}`,
      "--ready-file",
      file,
    );
    const said = child.stderr.text();
    await new Promise((resolve) => void silent.once("connection", resolve));
    const signalled = performance.now();
    child.kill("SIGTERM");
    expect(await child.exited).toBe(0);
    expect(performance.now() - signalled).toBeLessThan(8000);
    expect(existsSync(file)).toBeFalse();
    expect(await said).not.toContain("curl");
    silent.close();
  });

  test("is refused where a folder is", async () => {
    const folder = join(home, "folder");
    mkdirSync(folder);
    const child = start("serve", "--port", "0", "--ready-file", folder);
    expect(await child.stderr.text()).toBe(
      `svc: The file of --ready-file, ${folder}, cannot be written: it is a folder.\n`,
    );
    expect(await child.exited).toBe(1);
  });

  test("of one worker is not removed by another that cannot listen", async () => {
    const file = join(home, "worker");
    const first = start("worker", "--port", "0", "--ready-file", file);
    const address = await ready(first, file);
    const second = start("worker", "--port", address.split(":")[1] ?? "", "--ready-file", file);
    expect(await second.exited).toBe(4);
    expect(readFileSync(file, "utf8").trim()).toBe(address);
    first.kill("SIGTERM");
    expect(await first.exited).toBe(0);
    expect(existsSync(file)).toBeFalse();
  });
});
