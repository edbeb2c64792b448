// Verifies the table of other servers' request fields by sending each field.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { PeerField, PeerRoute } from "../parity/peer-field.ts";
import { peerRoutes, peersReport, withField } from "../parity/peers.ts";
import { serve, type TestServer } from "../http/harness.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";

const logprob = { token: "x", id: 1, logprob: -1, bytes: [120], top: [] };
const script: FakeScript = {
  steps: [
    { type: "progress", total: 12, cached: 4, processed: 12, ms: 5 },
    { type: "text", text: '{"a":"x"}', tokens: [7], logprobs: [logprob] },
  ],
  finish: { tokens: { prompt: [1], answer: [7] } },
};

describe.each(peerRoutes.map((route): [string, PeerRoute] => [`${route.peer} ${route.route}`, route]))(
  "%s",
  (_, route) => {
    const { body, fields } = route;

    test("is answered without any of them, twice with the same result", async () => {
      const server = serve(script);
      const [first, second] = [await ask(server, route, body), await ask(server, route, body)];
      expect([first.status, second.seen]).toEqual([200, first.seen]);
    });

    test("every field has its effect, or is refused by name", async () => {
      const server = serve(script);
      const wrong: unknown[] = [];
      for (const field of fields) {
        const answer = await ask(server, route, withField(body, field));
        const without = await ask(server, route, { ...body, ...field.beside });
        const problem = judge(field, answer, without);
        if (problem !== undefined) wrong.push([field.field, field.value, problem]);
      }
      expect(wrong).toEqual([]);
    });
  },
);

interface Outcome {
  readonly status: number;
  readonly text: string;
  /** All that a field can change: the answer, and the requests to the engines. */
  readonly seen: string;
}

/** Ids, paths of files, times, and a field that only upstreams use. */
const VARYING =
  /"frequencyPenalty":\d,?|\b[a-z]+[-_][0-9a-f]{12,32}\b|"path":"[^"]*"|"(created|created_at|completed_at|modified_at|[a-z_]+_duration|[a-z_]+_(ms|second))":[^,}]+/g;

async function ask(server: TestServer, { route, path }: PeerRoute, body: PeerRoute["body"]): Promise<Outcome> {
  const asked = () => {
    const { engine, embedders, transcriber } = server;
    const lists = [engine.requests, engine.tokenized, engine.rendered, transcriber.asked];
    return [...lists, ...embedders.map((one) => one.asked)] as readonly (readonly unknown[])[];
  };
  const before = asked().map(({ length }) => length);
  const query = new URLSearchParams(body as Record<string, string>);
  const response = await (route.startsWith("GET") ? fetch(`${server.url}${path}?${query}`) : server.post(path, body));
  const text = await response.text();
  const more = asked().map((list, at) => list.slice(before[at]));
  const seen = `${response.headers.get("content-type")} ${text} ${JSON.stringify(more)}`.replaceAll(VARYING, "");
  return { status: response.status, text, seen };
}

function judge({ field, verdict, usual }: PeerField, { status, text, seen }: Outcome, without: Outcome) {
  if (verdict === "refused") {
    if (status < 400 || status > 499) return `${status} ${text.slice(0, 200)}`;
    return text.includes(`'${field}`) ? undefined : `not named: ${text}`;
  }
  if (status !== 200) return `${status} ${text}`;
  const hasEffect = verdict === "honoured" && !usual;
  if ((seen !== without.seen) === hasEffect) return undefined;
  return hasEffect ? "it has no effect" : "it has an effect";
}

test("PEERS.md matches the table", async () => {
  const file = Bun.file(join(import.meta.dir, "../parity/PEERS.md"));
  if (process.env["UPDATE"] === "1") await Bun.write(file, peersReport());
  expect(await file.text()).toBe(peersReport());
});
