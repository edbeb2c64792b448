// Many conversations in one request: the SDK has no call for it, but its own transport and decoder of streams take it.

import { check, equal, ok } from "./checks.ts";
import { CAPITAL, CAPITAL_ANSWER } from "./prompts.ts";
import type { Sdk } from "./sdk.ts";

interface Event {
  readonly custom_id: string;
  readonly object?: string;
  readonly choices?: readonly {
    readonly message?: { readonly content: string };
    readonly delta?: { readonly content?: string };
  }[];
}

/** Items of both kinds in one stream. */
export async function multiplexChecks({ client }: Sdk): Promise<void> {
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
}
