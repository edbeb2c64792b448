// Tools and structured answers with the TypeScript SDK of the Messages API.

import type { Message, MessageParam, Tool, ToolResultBlockParam } from "@anthropic-ai/sdk/resources";
import type { AnthropicSdk } from "./anthropic-sdk.ts";
import type { BetaRunnableTool } from "@anthropic-ai/sdk/lib/tools/BetaRunnableTool";
import { check, equal, ok, same, skip } from "./checks.ts";
import {
  ANNA,
  ANNA_DATA,
  ANNA_SCHEMA,
  CAPITAL,
  CAPITAL_ANSWER,
  functionsOf,
  PARIS,
  PARIS_AND_ROME,
  SUNNY,
  SUNNY_ANSWER,
} from "./prompts.ts";

const TOOLS: Tool[] = functionsOf(({ name, description, parameters }) => ({
  name,
  description,
  input_schema: { ...parameters, type: "object" as const },
}));

const asking = (content: string) => ({
  model: "svc-mini",
  max_tokens: 200,
  temperature: 0,
  messages: [{ role: "user", content }] satisfies MessageParam[],
});

const called = ({ content }: Pick<Message, "content">) =>
  content.flatMap((block) => (block.type === "tool_use" ? [[block.name, block.input]] : []));
const textOf = ({ content }: { readonly content: readonly { readonly type: string }[] }) =>
  content.map((block) => ("text" in block ? block.text : "")).join("");
const weatherIn = (city: string) => ["get_weather", { city }];

export async function messageToolChecks(sdk: AnthropicSdk): Promise<void> {
  await callChecks(sdk);
  await runnerChecks(sdk);
  await formatChecks(sdk);
}

async function callChecks({ client }: AnthropicSdk): Promise<void> {
  await check("tools: called, answered with the result, and answered from it", async () => {
    const first = await client.messages.create({ ...asking(PARIS), tools: TOOLS });
    same(called(first), [weatherIn("Paris")]);
    equal(first.stop_reason, "tool_use");
    const results = first.content.flatMap((block): ToolResultBlockParam[] =>
      block.type === "tool_use" ? [{ type: "tool_result", tool_use_id: block.id, content: SUNNY }] : [],
    );
    const messages: MessageParam[] = [
      ...asking(PARIS).messages,
      { role: "assistant", content: first.content },
      { role: "user", content: results },
    ];
    const second = await client.messages.create({ ...asking(PARIS), messages, tools: TOOLS });
    equal(textOf(second), SUNNY_ANSWER);
    equal(second.stop_reason, "end_turn");
  });

  await check("tool_choice: any, one by name, none, and one call at most", async () => {
    const choose = async (
      content: string,
      tool_choice: NonNullable<Parameters<typeof client.messages.create>[0]["tool_choice"]>,
    ) => called(await client.messages.create({ ...asking(content), tools: TOOLS, tool_choice }));
    equal((await choose("Hello!", { type: "any" })).length, 1);
    same(await choose(PARIS, { type: "tool", name: "get_time" }), [["get_time", { place: "Paris" }]]);
    same(await choose(PARIS, { type: "none" }), []);
    same(await choose(PARIS_AND_ROME, { type: "auto", disable_parallel_tool_use: true }), [weatherIn("Paris")]);
  });

  await check("messages.stream assembles calls and tells of their input", async () => {
    const stream = client.messages.stream({ ...asking(PARIS_AND_ROME), tools: TOOLS });
    let json = "";
    stream.on("inputJson", (delta) => (json += delta));
    const final = await stream.finalMessage();
    same(called(final), [weatherIn("Paris"), weatherIn("Rome")]);
    same(JSON.parse(`[${json.replace("}{", "},{")}]`), [{ city: "Paris" }, { city: "Rome" }]);
    equal(final.stop_reason, "tool_use");
    ok(
      final.content.every((block) => block.type !== "tool_use" || block.caller.type === "direct"),
      "a call without caller",
    );
  });

  await check("no call where none is needed", async () => {
    const message = await client.messages.create({ ...asking(CAPITAL), tools: TOOLS });
    equal(textOf(message), CAPITAL_ANSWER);
    same(called(message), []);
  });
}

/** The SDK's helpers create schemas with a function of zod that its previous major version lacks. */
const NO_ZOD = "its helpers need a newer zod than the one beside it";

const CITY = {
  type: "object",
  properties: { city: { type: "string" } },
  required: ["city"],
  additionalProperties: false,
} as const;

async function runnerChecks({ client, z, betaTool, betaZodTool }: AnthropicSdk): Promise<void> {
  const definition = { name: "get_weather", description: "Get the current weather" };
  const loop = async (makeTool: (run: (input: { city: string }) => string) => BetaRunnableTool, stream: boolean) => {
    const cities: string[] = [];
    const tool = makeTool(({ city }) => {
      cities.push(city);
      return SUNNY;
    });
    const runner = client.beta.messages.toolRunner({ ...asking(PARIS), tools: [tool], stream });
    equal(textOf(await runner.runUntilDone()), SUNNY_ANSWER);
    same(cities, ["Paris"]);
  };

  for (const stream of [false, true]) {
    const way = stream ? ", streaming" : "";
    await check(`toolRunner calls the function and comes back with an answer${way}`, () =>
      loop((run) => betaTool({ ...definition, inputSchema: CITY, run }), stream),
    );
    const name = `toolRunner with a tool made by zod${way}`;
    if (!("toJSONSchema" in z)) skip(name, NO_ZOD);
    else {
      await check(name, () =>
        loop((run) => betaZodTool({ ...definition, inputSchema: z.object({ city: z.string() }), run }), stream),
      );
    }
  }
}

async function formatChecks({ client, version, z, ...helpers }: AnthropicSdk): Promise<void> {
  // The field for the format: in output_config, or beside it in versions before 1.
  const parsed = async (format: object) => {
    const place = version.startsWith("0.") ? { output_format: format } : { output_config: { format } };
    return client.beta.messages.parse({ ...asking(ANNA), ...place } as never);
  };

  await check("a JSON schema is followed, and parse reads the answer", async () => {
    const format = helpers.betaJSONSchemaOutputFormat(ANNA_SCHEMA);
    same(Reflect.get(await parsed(format), "parsed_output"), ANNA_DATA);
    // Both fields, whatever the version.
    for (const place of [{ output_format: format }, { output_config: { format } }]) {
      const message = await client.messages.create({ ...asking(ANNA), ...place } as never);
      same(JSON.parse(textOf(message as Message)), ANNA_DATA);
    }
  });

  await check("a schema is followed where the model would say something else, streamed", async () => {
    const schema = {
      type: "object",
      properties: { verdict: { enum: ["zebra", "quokka"] } },
      required: ["verdict"],
      additionalProperties: false,
    };
    const format = { type: "json_schema" as const, schema };
    const final = await client.messages.stream({ ...asking("Hello!"), output_config: { format } }).finalMessage();
    ok(["zebra", "quokka"].includes(JSON.parse(textOf(final)).verdict), textOf(final));
  });

  const name = "parse reads the answer with zod";
  if (!("toJSONSchema" in z)) return skip(name, NO_ZOD);
  await check(name, async () => {
    const person = z.object({ name: z.string(), age: z.number().int(), city: z.string() });
    same(Reflect.get(await parsed(helpers.betaZodOutputFormat(person)), "parsed_output"), ANNA_DATA);
  });
}
