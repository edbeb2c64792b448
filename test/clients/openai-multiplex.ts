// Many conversations in one request: the SDK has no method for it, but its transport and its stream decoder support
// it.

import { check, equal, ok, untilIdle } from "./checks.ts";
import { CAPITAL, CAPITAL_ANSWER } from "./prompts.ts";
import { failure, type Sdk } from "./sdk.ts";

interface Event {
  readonly custom_id: string;
  readonly object?: string;
  readonly choices?: readonly {
    readonly message?: { readonly content: string };
    readonly delta?: { readonly content?: string };
  }[];
}

/** Tests items of both kinds in one stream, and one that fails. */
export async function multiplexChecks({ OpenAI, client, endless }: Sdk): Promise<void> {
  await check("a batch of conversations in one stream, by custom_id", async () => {
    const body = { messages: [{ role: "user", content: CAPITAL }], temperature: 0 };
    const requests = [
      { custom_id: "whole", body },
      { custom_id: "streamed", body: { ...body, stream: true } },
    ];
    const stream = (await client.post("/batch/completions", {
      body: { requests },
      stream: true,
    })) as AsyncIterable<Event>;
    const texts = new Map<string, string>();
    for await (const { custom_id: id, choices } of stream) {
      const text = choices?.map(({ message, delta }) => message?.content ?? delta?.content ?? "").join("") ?? "";
      texts.set(id, (texts.get(id) ?? "") + text);
    }
    equal(texts.size, 2);
    for (const text of texts.values()) ok(text.includes(CAPITAL_ANSWER), text);
  });

  const long = { messages: [{ role: "user", content: "hello ".repeat(60_000) }], stream: true };
  const other = { messages: [{ role: "user", content: CAPITAL }], temperature: 0 };
  const requests = [
    { custom_id: "long", body: long },
    { custom_id: "other", body: other },
  ];

  await check("an item that fails is an APIError that names it, and what is left of the batch is ended", async () => {
    const stream = (await endless.post("/batch/completions", {
      body: { requests },
      stream: true,
    })) as AsyncIterable<Event>;
    const error = await failure(() => Array.fromAsync(stream), OpenAI.APIError);
    equal(error.code, "context_length_exceeded");
    equal(error.param, "messages");
    equal(Reflect.get(error.error ?? {}, "custom_id"), "long");
    await untilIdle();
  });

  await check("the lines of a batch have every item, also behind one that fails", async () => {
    const response = await client.post("/batch/completions", { body: { requests } }).asResponse();
    const lines = (await response.text()).split("\n").filter((line) => line.startsWith("data: {"));
    const events = lines.map((line) => JSON.parse(line.slice(6)) as Event);
    equal(events.find(({ custom_id: id }) => id === "long")?.object, "batch.error");
    const answer = events.find(({ custom_id: id }) => id === "other")?.choices?.[0]?.message?.content ?? "";
    ok(answer.includes(CAPITAL_ANSWER), answer);
  });
}
