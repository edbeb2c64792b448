// What a person sees of a server on a terminal, here a pseudo-terminal: the log, the live line, and Ctrl-C.

import { afterAll, describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { sharedFolder } from "../support/folders.ts";
import { killAtExit } from "../support/kill-at-exit.ts";
import { ownEnvironment } from "../support/own-environment.ts";
import { post } from "../support/post.ts";
import { ESCAPE, screenOf } from "../support/screen.ts";
import { PROGRAM } from "../support/server.ts";
import { until } from "../support/until.ts";

setDefaultTimeout(60_000);

const home = sharedFolder();
const CHAT = { messages: [{ role: "user", content: "What is the capital of France?" }], temperature: 0 };

const servers: (() => Promise<unknown>)[] = [];
afterAll(() => Promise.all(servers.map((stop) => stop())));

/** Starts a server on a terminal; `written` is all of its output. */
async function onTerminal(variables: Readonly<Record<string, string>> = {}) {
  const ready = join(home, `ready-${crypto.randomUUID()}`);
  const args = ["serve", "--port", "0", "--ctx", "16384", "--ready-file", ready];
  let written = "";
  const decoder = new TextDecoder();
  const data = (_: unknown, bytes: Uint8Array) => void (written += decoder.decode(bytes, { stream: true }));
  const env = ownEnvironment({ HOME: home, TERM: "xterm-256color", ...variables });
  const child = Bun.spawn([...PROGRAM, ...args], { env, terminal: { cols: 160, rows: 40, data } });
  void child.exited.then(killAtExit(child));
  servers.push(() => {
    child.kill();
    return child.exited;
  });
  await until(() => {
    if (child.exitCode !== null) throw new Error(`ended with ${child.exitCode}: ${written}`);
    return existsSync(ready);
  });
  const url = `${readFileSync(ready, "utf8").trim()}/v1/chat/completions`;
  return {
    child,
    written: () => written,
    lines: () => screenOf(written),
    ask: (changes: object, signal?: AbortSignal) => post(url, { ...CHAT, ...changes }, signal && { signal }),
    interrupt: () => child.terminal?.write("\x03"),
  };
}

/** The line of a chat that ended at its limit. */
const LOGGED =
  /^\d{4}-\d\d-\d\d \d\d:\d\d:\d\d 200 +[\d.]+ m?s POST \/v1\/chat\/completions svc-mini {2}\d+ prompt(?: \(\d+ cached\))? {2}2 output {2}first [\d.]+ m?s {2}[\d.]+ tok\/s {2}length$/;
const logged = (lines: readonly string[]) => lines.filter((line) => line.includes("POST"));

describe.skipIf(process.platform === "win32")("a server on a terminal", () => {
  test("logs a chat as one coloured line, and shows below the log how far a prompt is", async () => {
    const { ask, lines, written } = await onTerminal();
    await ask({ max_tokens: 2 });
    await until(() => logged(lines()).length > 0);
    expect(logged(lines())).toEqual([expect.stringMatching(LOGGED)]);
    const [coloured = ""] = written()
      .split("\n")
      .filter((line) => line.includes("POST"));
    expect(coloured).toContain(`${ESCAPE}[32m200${ESCAPE}[39m`);
    expect(coloured).toContain(`${ESCAPE}[36msvc-mini${ESCAPE}[39m`);

    const client = new AbortController();
    const answer = ask({ messages: [{ role: "user", content: "word ".repeat(10_000) }] }, client.signal);
    await until(() => /^ {2}prefill svc-mini \[[#.]+\] \d+ % {2}[\d,]+ of 10,\d+ tokens/.test(lines().at(-1) ?? ""));
    client.abort();
    await expect(answer).rejects.toThrow();
    await until(() => logged(lines()).length === 2);
    expect(lines().at(-1)).toMatch(/ 499 .* cancelled$/);
    expect(lines().join("\n")).not.toContain("prefill");
  });

  test("says at Ctrl-C beside a stream that a second one stops it now, which it does", async () => {
    const { ask, interrupt, lines, child } = await onTerminal();
    const stream = (await ask({ stream: true, ignore_eos: true, max_tokens: 4000 })).body?.getReader();
    await until(() => lines().some((line) => /^ {2}generating svc-mini +[\d,]+ tokens/.test(line)));
    interrupt();
    await until(() => lines().some((line) => line.includes("stopping; press Ctrl-C again to stop now")));
    expect((await stream?.read())?.done).toBe(false);
    expect(child.exitCode).toBeNull();
    // Signals of one cause come closer together.
    await Bun.sleep(400);
    interrupt();
    expect(await child.exited).toBe(1);
    expect(lines().findLast((line) => line !== "")).toMatch(
      / error +stopped at once by a second signal signal=SIGINT active=1$/,
    );
    await stream?.cancel();
  });

  test("stops at Ctrl-C without streams, and then names no second one", async () => {
    const { interrupt, child, written } = await onTerminal();
    interrupt();
    expect(await child.exited).toBe(0);
    expect(written()).toContain("stopping");
    expect(written()).not.toContain("again");
  });

  test.each([
    [{ NO_COLOR: "1" }, "colours", /^\[[\d;]*m/],
    [{ TERM: "dumb" }, "control sequences", /^/],
  ] as const)("with %j has no %s", async (variables, _, unwanted) => {
    const { ask, lines, written } = await onTerminal(variables);
    await ask({ max_tokens: 2 });
    await until(() => logged(lines()).length > 0);
    expect(written()).toContain("KV cache");
    const sequences = written().split(ESCAPE).slice(1);
    expect(sequences.filter((sequence) => unwanted.test(sequence))).toEqual([]);
  });
});
