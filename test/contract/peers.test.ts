// What the table of other servers' request fields says is so: each field is sent.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import type { PeerField, PeerRoute } from "../parity/peer-field.ts";
import { peerRoutes, peersReport, withField } from "../parity/peers.ts";
import { serve } from "../http/harness.ts";
import type { FakeScript } from "../support/fake-text-engine.ts";

const logprob = { token: "x", id: 1, logprob: -1, bytes: [120], top: [] };
const script: FakeScript = { steps: [{ text: '{"a":"x"}', logprobs: [logprob] }] };

describe.each(peerRoutes.map((route): [string, PeerRoute] => [`${route.peer} ${route.route}`, route]))(
  "%s",
  (_, route) => {
    const server = () => serve(script);

    test("is answered without any of them", async () => {
      expect((await server().post(route.path, route.body)).status).toBe(200);
    });

    test("every field is honoured or refused by its name", async () => {
      const { post } = server();
      const wrong: unknown[] = [];
      for (const field of route.fields) {
        const response = await post(route.path, withField(route.body, field));
        const problem = judge(field, response.status, await response.text());
        if (problem !== undefined) wrong.push([field.field, field.value, problem]);
      }
      expect(wrong).toEqual([]);
    });
  },
);

function judge({ field, verdict }: PeerField, status: number, text: string): string | undefined {
  if (verdict !== "refused") return status === 200 ? undefined : `${status} ${text}`;
  if (status !== 400) return `${status} ${text.slice(0, 200)}`;
  return text.includes(`'${field}`) ? undefined : `not named: ${text}`;
}

test("PEERS.md is made of the table", async () => {
  const file = Bun.file(join(import.meta.dir, "../parity/PEERS.md"));
  if (process.env["UPDATE"] === "1") await Bun.write(file, peersReport());
  expect(await file.text()).toBe(peersReport());
});
