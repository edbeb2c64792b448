// Three replicas that are killed, suspended and restarted in turn, under the load of 24 clients, for `SVC_MINUTES`.
// Every request must end, and none may fail before anything was sent.

import { expect, test } from "bun:test";
import { streamChat } from "../support/chat-client.ts";
import { post } from "../support/post.ts";
import { startServer } from "../support/server.ts";
import { startStandIn, type StandIn } from "./stand-ins.ts";

const MINUTES = Number(process.env["SVC_MINUTES"] ?? 1);
const CLIENTS = 24;
/** Longer than any answer takes, including the timeout of each replica. */
const PATIENCE_MS = 40_000;

async function endOf(url: string, number: number): Promise<string> {
  const content = `conversation ${number % 200}`;
  const asked = { model: "up/far", messages: [{ role: "user", content }], max_tokens: 1 + (number % 60) };
  const signal = AbortSignal.timeout(PATIENCE_MS);
  try {
    if (number % 3 === 0) return await endOfWhole(url, asked, signal);
    const { error, text, done, finishReason } = await streamChat(url, asked, { signal });
    if (!error) return done && finishReason === "length" ? "whole" : "without an end";
    return text === "" ? `${error.code} before its first word` : `${error.code} in its stream`;
  } catch {
    return "no end in time";
  }
}

/** Returns how a request without streaming ends. */
async function endOfWhole(url: string, asked: object, signal: AbortSignal): Promise<string> {
  const response = await post(`${url}/v1/chat/completions`, asked, { signal });
  const { error, choices } = (await response.json()) as {
    error?: { code: string };
    choices?: { finish_reason: string }[];
  };
  return error
    ? `${error.code} in place of an answer`
    : choices?.[0]?.finish_reason === "length"
      ? "whole"
      : "cut short";
}

test(
  "replicas that are killed and suspended in turn fail no request that another replica could answer",
  async () => {
    const standIns = await Promise.all(Array.from({ length: 3 }, () => startStandIn()));
    const upstreams = standIns.flatMap(({ url }) => ["--upstream", `up=${url}`]);
    const server = await startServer(["--no-model", ...upstreams, "--upstream-timeout", "4", "--log-level", "info"]);
    const until = performance.now() + MINUTES * 60_000;
    const ends = new Map<string, number>();
    let number = 0;
    const client = async () => {
      while (performance.now() < until) {
        const end = await endOf(server.url, number++);
        ends.set(end, (ends.get(end) ?? 0) + 1);
      }
    };
    const turns = async () => {
      for (let turn = 0; performance.now() < until - 15_000; turn++) {
        const at = Math.floor(turn / 2) % standIns.length;
        const victim = standIns[at] as StandIn;
        if (turn % 2 === 0) {
          victim.kill("SIGKILL");
          await Bun.sleep(3000);
          standIns[at] = await startStandIn(Number(new URL(victim.url).port));
        } else {
          victim.kill("SIGSTOP");
          await Bun.sleep(7000);
          victim.kill("SIGCONT");
        }
        await Bun.sleep(3000);
      }
    };
    try {
      await Promise.all([turns(), ...Array.from({ length: CLIENTS }, client)]);
      const { data } = (await (await fetch(`${server.url}/upstreams`)).json()) as {
        data: { replicas: { running: number; outages: number; retries: number; state: string }[] }[];
      };
      const replicas = data.flatMap((upstream) => upstream.replicas);
      console.log(
        Object.fromEntries(ends),
        replicas.map(({ outages, retries }) => ({ outages, retries })),
      );
      expect([...ends.keys()].filter((end) => end !== "whole" && !end.endsWith("in its stream"))).toEqual([]);
      expect(ends.get("whole")).toBeGreaterThan(100);
      expect(replicas.reduce((sum, { outages }) => sum + outages, 0)).toBeGreaterThan(0);
      expect(replicas.map(({ running }) => running)).toEqual([0, 0, 0]);
      await server.stop();
    } finally {
      await server.kill();
      for (const { kill } of standIns) kill("SIGKILL");
    }
  },
  MINUTES * 60_000 + 120_000,
);
