// Tools and structured answers in the Responses API, with the TypeScript SDK.

import type { FunctionTool, Response, ResponseInput } from "openai/resources/responses/responses";
import { check, equal, ok, same } from "./checks.ts";
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
import { failure, type Sdk } from "./sdk.ts";

const TOOLS = functionsOf(({ name, description, parameters }): FunctionTool => ({
  type: "function",
  name,
  description,
  parameters,
  strict: true,
}));

const asking = (input: string) => ({ model: "svc-mini", temperature: 0, input });
const callsOf = ({ output }: Pick<Response, "output">) =>
  output.flatMap((item) => (item.type === "function_call" ? [item] : []));
const called = (response: Pick<Response, "output">) =>
  callsOf(response).map((call) => [call.name, JSON.parse(call.arguments)]);
const weatherIn = (city: string) => ["get_weather", { city }];

export async function responseToolChecks(sdk: Sdk): Promise<void> {
  await callChecks(sdk);
  await formatChecks(sdk);
}

async function callChecks({ client, z, zodResponsesFunction }: Sdk): Promise<void> {
  await check("tools: called, answered with the result, and answered from it", async () => {
    const first = await client.responses.create({ ...asking(PARIS), tools: TOOLS });
    same(called(first), [weatherIn("Paris")]);
    const results = callsOf(first).map(({ call_id }) => ({
      type: "function_call_output" as const,
      call_id,
      output: SUNNY,
    }));
    const chained = await client.responses.create({
      ...asking(""),
      input: results,
      previous_response_id: first.id,
      tools: TOOLS,
    });
    equal(chained.output_text, SUNNY_ANSWER);
    const input = [{ role: "user", content: PARIS }, ...first.output, ...results] as ResponseInput;
    equal((await client.responses.create({ ...asking(""), input, tools: TOOLS })).output_text, SUNNY_ANSWER);
  });

  await check("tool_choice: required, one by name, none, and one call at most", async () => {
    const choose = async (input: string, extra: object) =>
      called(await client.responses.create({ ...asking(input), tools: TOOLS, ...extra }));
    equal((await choose("Hello!", { tool_choice: "required" })).length, 1);
    const named = { type: "function", name: "get_time" };
    same(await choose(PARIS, { tool_choice: named }), [["get_time", { place: "Paris" }]]);
    same(await choose(PARIS, { tool_choice: "none" }), []);
    same(await choose(PARIS_AND_ROME, { parallel_tool_calls: false }), [weatherIn("Paris")]);
  });

  await check("responses.stream assembles calls and tells of their arguments", async () => {
    const stream = client.responses.stream({ ...asking(PARIS_AND_ROME), tools: TOOLS });
    let last = "";
    const done: unknown[] = [];
    stream.on("response.function_call_arguments.delta", ({ snapshot }) => (last = snapshot));
    stream.on("response.function_call_arguments.done", (event) => done.push(JSON.parse(event.arguments)));
    const final = await stream.finalResponse();
    same(called(final), [weatherIn("Paris"), weatherIn("Rome")]);
    same(JSON.parse(last), { city: "Rome" });
    same(done, [{ city: "Paris" }, { city: "Rome" }]);
  });

  await check("parse reads the arguments of a tool made by zod", async () => {
    const weather = zodResponsesFunction({
      name: "get_weather",
      description: "Get the current weather",
      parameters: z.object({ city: z.string() }),
    });
    const response = await client.responses.parse({ ...asking(PARIS), tools: [weather] });
    const [call] = response.output;
    if (call?.type !== "function_call") throw new Error(`${call?.type}`);
    // Older versions of the SDK return the call itself here, with the parsed arguments inside.
    const parsed: unknown = call.parsed_arguments;
    same(Reflect.get(parsed ?? {}, "parsed_arguments") ?? parsed, { city: "Paris" });
  });

  await check("no call where none is needed", async () => {
    const response = await client.responses.create({ ...asking(CAPITAL), tools: TOOLS });
    equal(response.output_text, CAPITAL_ANSWER);
    same(called(response), []);
  });
}

async function formatChecks({ client, OpenAI, z, zodTextFormat }: Sdk): Promise<void> {
  const person = z.object({ name: z.string(), age: z.number().int(), city: z.string() });
  const text = { format: zodTextFormat(person, "person") };

  await check("parse reads the answer with zod, whole and streamed", async () => {
    const whole = await client.responses.parse({ ...asking(ANNA), text });
    same(whole.output_parsed, ANNA_DATA);
    const final = await client.responses.stream({ ...asking(ANNA), text }).finalResponse();
    same(final.output_parsed, ANNA_DATA);
  });

  await check("json_schema and json_object without a helper", async () => {
    const format = { type: "json_schema" as const, name: "person", schema: ANNA_SCHEMA, strict: true };
    const strict = await client.responses.create({ ...asking(ANNA), text: { format } });
    same(JSON.parse(strict.output_text), ANNA_DATA);
    const object = await client.responses.create({
      ...asking("Extract the name and city as JSON: Anna lives in Paris."),
      text: { format: { type: "json_object" } },
    });
    same(JSON.parse(object.output_text), { name: "Anna", city: "Paris" });
  });

  await check("a schema that is none is BadRequestError", async () => {
    const format = { type: "json_schema" as const, name: "data", schema: { type: "nonsense" } };
    const error = await failure(
      () => client.responses.create({ ...asking(ANNA), text: { format } }),
      OpenAI.BadRequestError,
    );
    ok(error.param?.startsWith("text.format.schema"), `${error.param}`);
  });
}
