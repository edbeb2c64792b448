// Responses that outlive their request: chains, listed input, background mode and its events, with the TypeScript
// SDK.

import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import { check, equal, ok, same, skip, untilIdle } from "./checks.ts";
import { CAPITAL, CAPITAL_ANSWER } from "./prompts.ts";
import { failure, outputText, type Sdk } from "./sdk.ts";

const asking = (input: string) => ({ model: "svc-mini", temperature: 0, input });
const story = { model: "any", input: "abcd efgh", max_output_tokens: 4000, background: true };

export async function storedChecks(sdk: Sdk): Promise<void> {
  await keptChecks(sdk);
  await conversationChecks(sdk);
  await backgroundChecks(sdk);
  await resumptionChecks(sdk);
}

/** Deletes a response; older versions of the SDK have a shorter name for it. */
const remove = ({ responses }: Sdk["client"], id: string): PromiseLike<unknown> =>
  "delete" in responses ? responses.delete(id) : (responses as unknown as { del(id: string): Promise<void> }).del(id);

async function keptChecks({ client, OpenAI }: Sdk): Promise<void> {
  await check("previous_response_id: a chain remembers, and ends where it was deleted", async () => {
    const first = await client.responses.create(asking("My name is Bob."));
    const next = { ...asking("What is my name?"), previous_response_id: first.id };
    const second = await client.responses.create(next);
    ok(second.output_text.includes("Bob"), second.output_text);
    equal(second.previous_response_id, first.id);
    await remove(client, first.id);
    await failure(() => client.responses.retrieve(first.id), OpenAI.NotFoundError);
    const error = await failure(() => client.responses.create(next), OpenAI.NotFoundError);
    equal(error.param, "previous_response_id");
  });

  await check("retrieve gives what create gave; what is not stored is not there", async () => {
    const { _request_id, ...made } = await client.responses.create({ ...asking(CAPITAL), metadata: { a: "b" } });
    const { _request_id: _, ...fetched } = await client.responses.retrieve(made.id);
    same({ ...fetched, output_text: CAPITAL_ANSWER }, made);
    const unkept = await client.responses.create({ ...asking(CAPITAL), store: false });
    await failure(() => client.responses.retrieve(unkept.id), OpenAI.NotFoundError);
  });

  await check("inputItems.list pages through all by itself, in both orders", async () => {
    const input = Array.from({ length: 7 }, (_, index) => ({ role: "user" as const, content: `Word ${index}.` }));
    const { id } = await client.responses.create({ ...asking(""), input, max_output_tokens: 1 });
    const texts = async (order: "asc" | "desc") => {
      const items = await Array.fromAsync(client.responses.inputItems.list(id, { limit: 3, order }));
      equal(new Set(items.map((item) => item.id)).size, 7);
      return items.map((item) => {
        const part = item.type === "message" ? item.content[0] : undefined;
        return part?.type === "input_text" ? part.text : "";
      });
    };
    const written = input.map(({ content }) => content);
    same(await texts("asc"), written);
    same(await texts("desc"), written.toReversed());
  });

  const name = "inputTokens.count counts what create computes";
  if (!("inputTokens" in client.responses)) skip(name, "this version has no such method");
  else {
    await check(name, async () => {
      const counted = await client.responses.inputTokens.count(asking(CAPITAL));
      equal(counted.object, "response.input_tokens");
      equal(counted.input_tokens, (await client.responses.create(asking(CAPITAL))).usage?.input_tokens);
    });
  }
}

async function conversationChecks({ client, OpenAI }: Sdk): Promise<void> {
  const name = "a conversation is gone on from, its items are listed, and it ends where it is deleted";
  if (!("conversations" in client)) return skip(name, "this version has no such methods");
  await check(name, async () => {
    const { id } = await client.conversations.create({ metadata: { topic: "names" } });
    await client.conversations.items.create(id, { items: [{ role: "user", content: "My name is Bob." }] });
    const first = await client.responses.create({ ...asking("Hello!"), conversation: id });
    equal(first.conversation?.id, id);
    const second = await client.responses.create({ ...asking("What is my name?"), conversation: { id } });
    ok(second.output_text.includes("Bob"), second.output_text);
    const items = await Array.fromAsync(client.conversations.items.list(id, { limit: 2, order: "asc" }));
    same(
      items.map((item) => item.type === "message" && item.role),
      ["user", "user", "assistant", "user", "assistant"],
    );
    const removed = items[1]?.id ?? "";
    same(await client.conversations.items.retrieve(removed, { conversation_id: id }), items[1]);
    await client.conversations.items.delete(removed, { conversation_id: id });
    equal((await client.conversations.items.list(id)).data.length, 4);
    same((await client.conversations.update(id, { metadata: { topic: "tea" } })).metadata, { topic: "tea" });
    equal((await client.conversations.delete(id)).deleted, true);
    await failure(() => client.conversations.retrieve(id), OpenAI.NotFoundError);
  });
}

async function backgroundChecks({ client, endless }: Sdk): Promise<void> {
  await check("background: in progress at once, fetched when done", async () => {
    let response: Response = await client.responses.create({ ...asking(CAPITAL), background: true });
    same([response.status, response.background], ["in_progress", true]);
    const deadline = Date.now() + 30_000;
    while (response.status === "in_progress" && Date.now() < deadline) {
      await Bun.sleep(20);
      response = await client.responses.retrieve(response.id);
    }
    same([response.status, outputText(response)], ["completed", CAPITAL_ANSWER]);
  });

  await check("cancel ends it on the server, and so does delete", async () => {
    const first = await endless.responses.create(story);
    equal((await endless.responses.cancel(first.id))?.status, "cancelled");
    await untilIdle();
    equal((await endless.responses.retrieve(first.id)).status, "cancelled");
    const second = await endless.responses.create(story);
    await remove(endless, second.id);
    await untilIdle();
  });
}

async function resumptionChecks({ client, endless }: Sdk): Promise<void> {
  await check("background with stream: left, and taken up again without a gap", async () => {
    const events: ResponseStreamEvent[] = [];
    for await (const event of await client.responses.create({ ...asking(CAPITAL), background: true, stream: true })) {
      events.push(event);
      if (events.length === 5) break;
    }
    const [created] = events;
    const id = created?.type === "response.created" ? created.response.id : "";
    const starting_after = events.at(-1)?.sequence_number ?? 0;
    const rest = await client.responses.retrieve(id, { stream: true, starting_after });
    for await (const event of rest) events.push(event);
    same(
      events.map(({ sequence_number }) => sequence_number),
      events.map((_, index) => index),
    );
    const last = events.at(-1);
    const deltas = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : ""));
    equal(deltas.join(""), CAPITAL_ANSWER);
    ok(last?.type === "response.completed" && last.response.status === "completed", `${last?.type}`);
  });

  await check("responses.stream takes up a response by its id", async () => {
    const first = client.responses.stream({ ...asking(CAPITAL), background: true });
    const { id } = await first.finalResponse();
    const numbers: number[] = [];
    const again = client.responses.stream({ response_id: id, starting_after: 3 });
    again.on("event", ({ sequence_number }) => numbers.push(sequence_number));
    equal(outputText(await again.finalResponse()), CAPITAL_ANSWER);
    equal(numbers[0], 4);
  });

  await check("it goes on without a reader until it is cancelled", async () => {
    let id = "";
    for await (const event of await endless.responses.create({ ...story, stream: true })) {
      if (event.type === "response.created") ({ id } = event.response);
      if (event.type === "response.output_text.delta") break;
    }
    equal((await endless.responses.retrieve(id)).status, "in_progress");
    equal((await endless.responses.cancel(id))?.status, "cancelled");
    await untilIdle();
  });
}
