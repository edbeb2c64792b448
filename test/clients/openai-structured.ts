// The TypeScript SDK: JSON answers, schemas, and the SDK's helpers that create schemas from zod.

import type { ZodType } from "zod";
import { check, equal, ok, same } from "./checks.ts";
import { ANNA, ANNA_DATA, ANNA_SCHEMA, asking, CAPITAL, PARIS, TOOLS } from "./prompts.ts";
import { failure, type Sdk } from "./sdk.ts";

const schemaFormat = (schema: Record<string, unknown>) => ({
  type: "json_schema" as const,
  json_schema: { name: "data", strict: true, schema },
});

export async function structuredChecks(sdk: Sdk): Promise<void> {
  await formatChecks(sdk);
  await helperChecks(sdk);
}

async function formatChecks({ client, OpenAI }: Sdk): Promise<void> {
  await check("a strict schema is followed", async () => {
    const request = { ...asking(ANNA), response_format: schemaFormat(ANNA_SCHEMA) };
    const answer = await client.chat.completions.create(request);
    same(JSON.parse(answer.choices[0]?.message.content ?? ""), ANNA_DATA);
    equal(answer.choices[0]?.finish_reason, "stop");
  });

  await check("a schema is followed where the model would say something else", async () => {
    const schema = {
      type: "object",
      properties: { verdict: { enum: ["zebra", "quokka"] }, count: { const: 7 } },
      required: ["verdict", "count"],
      additionalProperties: false,
    };
    const request = { ...asking("Hello!"), response_format: schemaFormat(schema) };
    const data = JSON.parse((await client.chat.completions.create(request)).choices[0]?.message.content ?? "");
    ok(["zebra", "quokka"].includes(data.verdict) && data.count === 7, JSON.stringify(data));
  });

  await check("json_object gives an object", async () => {
    const question = "Extract the name and city as JSON: Anna lives in Paris.";
    const request = { ...asking(question), response_format: { type: "json_object" as const } };
    const answer = await client.chat.completions.create(request);
    same(JSON.parse(answer.choices[0]?.message.content ?? ""), { name: "Anna", city: "Paris" });
  });

  await check("a schema beside tools: the model may call", async () => {
    const request = { ...asking(PARIS), tools: TOOLS, response_format: schemaFormat(ANNA_SCHEMA) };
    const { message } = (await client.chat.completions.create(request)).choices[0] ?? {};
    const call = message?.tool_calls?.[0];
    same(call?.type === "function" && JSON.parse(call.function.arguments), { city: "Paris" });
  });

  await check("a schema that is none is BadRequestError", async () => {
    for (const schema of [{ type: "nonsense" }, { type: "object", properties: 3 }, { $ref: "#/nowhere" }]) {
      const request = { ...asking(ANNA), response_format: schemaFormat(schema as Record<string, unknown>) };
      const error = await failure(() => client.chat.completions.create(request), OpenAI.BadRequestError);
      ok(error.param?.startsWith("response_format.json_schema.schema"), `${error.param}`);
    }
  });
}

async function helperChecks({ client, helpers, OpenAI, z, zodResponseFormat }: Sdk): Promise<void> {
  const person = z.object({ name: z.string(), age: z.number().int(), city: z.string() });
  const format = zodResponseFormat(person, "person");

  await check("parse reads the answer with zod", async () => {
    const final = await helpers.parse({ ...asking(ANNA), response_format: format });
    same(final.choices[0]?.message.parsed, ANNA_DATA);
  });

  await check("parse with nested objects, lists, choices, null and descriptions", async () => {
    const order = z.object({
      customer: z.object({ name: z.string().describe("Who ordered") }),
      state: z.enum(["open", "closed"]),
      tags: z.array(z.string().max(12)).max(3),
      note: z.string().max(20).nullable(),
      total: z.union([z.number().int().min(0).max(999), z.literal("unknown")]),
    });
    const request = { ...asking("Order: Anna bought a red lamp."), response_format: zodResponseFormat(order, "order") };
    const { message } = (await helpers.parse(request)).choices[0] ?? {};
    ok(message?.parsed && order.safeParse(message.parsed).success, message?.content ?? "no content");
  });

  await check("parse with a schema that refers to itself", async () => {
    interface Node {
      readonly name: string;
      readonly next: Node | null;
    }
    const node: ZodType<Node> = z.object({ name: z.string(), next: z.lazy(() => node).nullable() });
    const request = { ...asking(CAPITAL), response_format: zodResponseFormat(node, "node"), max_tokens: 200 };
    const { message } = (await helpers.parse(request)).choices[0] ?? {};
    ok(message?.parsed?.next, message?.content ?? "no content");
  });

  await check("parse gives every one of n answers", async () => {
    const request = { ...asking(ANNA), response_format: format, n: 2 };
    const final = await helpers.parse(request);
    same(
      final.choices.map(({ message }) => message.parsed),
      [ANNA_DATA, ANNA_DATA],
    );
  });

  await check("the stream helper parses while the answer comes", async () => {
    const stream = helpers.stream({ ...asking(ANNA), response_format: format });
    const partial: unknown[] = [];
    stream.on("content.delta", ({ parsed }) => partial.push(parsed));
    const final = await stream.finalChatCompletion();
    same(final.choices[0]?.message.parsed, ANNA_DATA);
    same(partial.at(-1), ANNA_DATA);
    // A model this fast sends several tokens in one event.
    ok(partial.length > 1, "not a stream");
  });

  await check("a cut answer raises LengthFinishReasonError", async () => {
    const request = { ...asking(ANNA), response_format: format, max_tokens: 5 };
    await failure(() => helpers.parse(request), OpenAI.OpenAIError);
    const kind = await failure(() => helpers.parse(request), OpenAI.OpenAIError);
    equal(kind.constructor.name, "LengthFinishReasonError");
    const streamed = await failure(() => helpers.stream(request).finalChatCompletion(), OpenAI.OpenAIError);
    equal(streamed.constructor.name, "LengthFinishReasonError");
    const plain = await client.chat.completions.create(request);
    equal(plain.choices[0]?.finish_reason, "length");
  });

  await check("parse with reasoning keeps the two apart", async () => {
    const request = { ...asking(ANNA), response_format: format, reasoning_effort: "low" as const };
    const { message } = (await helpers.parse(request)).choices[0] ?? {};
    same(message?.parsed, ANNA_DATA);
    ok(Reflect.get(message ?? {}, "reasoning_content"), "no reasoning");
  });
}
