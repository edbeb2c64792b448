// The answers of every API, streamed or not, byte for byte. Every stream obeys the rules of its API and has the same
// content as the whole answer.

import { describe, expect, test } from "bun:test";
import type { FakeScript } from "../support/fake-text-engine.ts";
import { expectGolden } from "../http/golden.ts";
import { serve } from "../http/harness.ts";
import { dialects, type Dialect, type Row } from "./golden-rows.ts";
import { scripts } from "./scripts.ts";

const id = { "x-request-id": "golden" };

const ask = ({ path }: Dialect, { script, body }: Row, stream: boolean) =>
  serve(scripts[script] as FakeScript).post(path, { ...body, stream }, id);

/** Removes the fields that differ between two requests. */
function comparable(body: object): object {
  const fields: Record<string, unknown> = { ...body };
  for (const key of ["id", "object", "created", "created_at", "completed_at", "model", "system_fingerprint"]) {
    delete fields[key];
  }
  return JSON.parse(JSON.stringify(fields).replace(/\b(rs|msg|fc|ctc)_[0-9a-f]{32}\b/g, "$1_ID"));
}

/** Dialects whose errors are those of another. */
const SAME_ERRORS: Readonly<Record<string, string>> = {
  completions: "chat",
  responses: "chat",
  "ollama-generate": "ollama-chat",
};

for (const [name, dialect] of Object.entries<Dialect>(dialects)) {
  describe(name, () => {
    // Only Messages tells a full context from a token limit.
    const recorded = (row: string) => `${name}-${row === "context-full" && name !== "messages" ? "length" : row}`;
    const errors = SAME_ERRORS[name] ?? name;
    const rows = dialect.rows.map((row) => [row.name, row] as const);
    const finished = rows.filter(([, { script }]) => script !== "failed");

    test.each(finished)("whole: %s", async (row, asked) => {
      const response = await ask(dialect, asked, false);
      const text = await response.text();
      expect(response.headers.get("x-grammar-constraints")).toBe(asked.downgraded ? "downgraded" : null);
      dialect.check(JSON.parse(text));
      await expectGolden(`${recorded(row)}.json`, text);
    });

    test.each(rows)("streamed: %s", async (row, asked) => {
      const text = await (await ask(dialect, asked, true)).text();
      await expectGolden(`${recorded(row)}.${dialect.streamed}`, text);
      const { body, error } = dialect.assemble(text);
      expect(error === undefined).toBe(asked.script !== "failed");
      if (!body) return;
      const whole = comparable(dialect.check(await (await ask(dialect, asked, false)).json()));
      const uncounted = name === "chat" || name === "completions" ? { usage: undefined, timings: undefined } : {};
      // These APIs report no counts for a cancelled stream.
      expect(comparable(body)).toEqual(asked.script === "cancelled" ? { ...whole, ...uncounted } : whole);
    });

    test("refused: the error matches the recorded file", async () => {
      const response = await serve().post(dialect.path, dialect.refused, id);
      expect(response.status).toBe(400);
      await expectGolden(`${name}-refused.json`, await response.text());
    });

    test("without an API key, and beyond its limit, the errors match the recorded files", async () => {
      const server = serve(undefined, { apiKeys: [{ name: "ada", key: "secret" }], keyRpm: 1 });
      const answer = async (headers = {}) => server.post(dialect.path, dialect.refused, { ...id, ...headers });
      const stranger = await answer();
      expect(stranger.status).toBe(401);
      await expectGolden(`${errors}-unauthenticated.json`, await stranger.text());
      await answer({ "x-api-key": "secret" });
      const limited = await answer({ "x-api-key": "secret" });
      expect(limited.status).toBe(429);
      await expectGolden(`${errors}-limited.json`, await limited.text());
    });
  });
}
