// Grammars for which llama.cpp's work doubles with every letter, and large grammars that must still work.

import { expect, setDefaultTimeout, test } from "bun:test";
import { join } from "node:path";
import { makeModel } from "../bench/make-model.ts";
import { withServer } from "../support/server.ts";
import { sharedServer } from "../support/shared-server.ts";

setDefaultTimeout(60_000);

interface Answer {
  readonly choices: readonly { readonly message: { readonly content: string }; readonly finish_reason: string }[];
}

const server = sharedServer("--ctx", "4096", "--threads", "1");

const post = (path: string, body: object) => server.post(path, body);

const send = (content: string, grammar?: string) =>
  post("/v1/chat/completions", {
    messages: [{ role: "user", content }],
    temperature: 0,
    max_tokens: 200,
    grammar,
  });

async function ask(content: string, grammar?: string): Promise<Answer> {
  const response = await send(content, grammar);
  expect(response.status).toBe(200);
  return (await response.json()) as Answer;
}

test("an ambiguous grammar truncates its own answer and affects no other request", async () => {
  const rules = Array.from({ length: 60 }, (_, i) => `a${i} ::= "a" a${i + 1} "b" | "a" a${i + 1} "c"`);
  const ambiguous = ask("hi", `root ::= a0\n${rules.join("\n")}\na60 ::= "x"`);
  const [other] = (await ask("What is the capital of France?")).choices;
  expect(other?.finish_reason).toBe("stop");
  expect(other?.message.content).toContain("Paris");
  const [cut] = (await ambiguous).choices;
  expect(cut?.finish_reason).toBe("length");
  expect(cut?.message.content).toMatch(/^a{8,59}$/);
});

test("an answer whose grammar has no possible continuation is reported as truncated", async () => {
  // No bytes encode that character.
  const grammar = String.raw`root ::= "a" "\U7FFFFFFF"`;
  for (const temperature of [0, 1]) {
    const answer = await post("/completion", { prompt: "hi", grammar, temperature });
    expect(await answer.json()).toMatchObject({ content: "a", stop_type: "limit", truncated: false });
  }
});

test("a grammar with thousands of alternatives yields a complete answer that is one of them", async () => {
  const values = Array.from({ length: 3000 }, (_, i) => `${(i * 7919) % 10_007}-${i}`);
  const [first] = (await ask("Which?", `root ::= ${values.map((value) => `"${value}"`).join(" | ")}`)).choices;
  expect(first?.finish_reason).toBe("stop");
  expect(values).toContain(first?.message.content as string);
});

test("many alternatives after several hundred others are allowed up to a limit, and more are refused", async () => {
  const alternatives = (count: number) => Array.from({ length: count }, (_, i) => `"k${i}"`).join(" | ");
  const grammar = (count: number) => `root ::= (${alternatives(300)}) " " (${alternatives(count)})`;
  const [answer] = (await ask("Which?", grammar(4900))).choices;
  expect(answer?.message.content).toMatch(/^k\d+ k\d+$/);
  const { status } = await send("Which?", grammar(5100));
  expect(status).toBe(400);
});

test("a thousand nested groups, as converters write a maximum length, are allowed", async () => {
  const upTo = (count: number) => `${"([a-z] ".repeat(count)}${")?".repeat(count)}`;
  const [answer] = (await ask("Say hello.", `root ::= ${upTo(1000)}`)).choices;
  expect(answer?.message.content).toMatch(/^[a-z]{0,1000}$/);
});

test("a schema with a thousand numbers that share prefixes yields a valid answer", async () => {
  const model = makeModel("60m", join(import.meta.dir, "../../vendor/.build/models"));
  const numbers = Array.from({ length: 1000 }, (_, i) => (i * 7919) % 1_000_003);
  const schema = { type: "array", minItems: 2, maxItems: 2, items: { enum: numbers } };
  await withServer(["--model", model, "--ctx", "1024"], async (other) => {
    const response = await other.post("/v1/chat/completions", {
      messages: [{ role: "user", content: "Give me numbers" }],
      temperature: 0,
      max_tokens: 100,
      response_format: { type: "json_schema", json_schema: { name: "numbers", schema } },
    });
    const { choices } = (await response.json()) as Answer;
    const answer = JSON.parse(choices[0]?.message.content ?? "") as number[];
    expect(answer).toHaveLength(2);
    expect(numbers).toEqual(expect.arrayContaining(answer));
  });
});
