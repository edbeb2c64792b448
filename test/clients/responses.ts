// The Responses API with the official TypeScript SDK, unmodified, and a running svc: `bun responses.ts FOLDER`, where
// FOLDER contains the SDK's major version. The servers are those of `run.ts`.

import type { Response, ResponseStreamEvent } from "openai/resources/responses/responses";
import { check, equal, ok, same, summary } from "./checks.ts";
import { failureChecks } from "./failures.ts";
import { ADDITION, ADDITION_ANSWER, CAPITAL, CAPITAL_ANSWER, IMAGE, OTHER_IMAGE } from "./prompts.ts";
import { storedChecks } from "./responses-stored.ts";
import { responseToolChecks } from "./responses-tools.ts";
import { loadSdk, outputText } from "./sdk.ts";

const sdk = await loadSdk(process.argv[2] ?? ".");
const { OpenAI, client, version, vision } = sdk;
console.log(`openai ${version}, responses (TypeScript)`);

const asking = (input: string) => ({ model: "svc-mini", temperature: 0, input });
const story = { model: "any", max_output_tokens: 30_000 };
const thoughtsOf = ({ output }: Response) =>
  output.flatMap((item) => (item.type === "reasoning" ? item.summary.map(({ text }) => text) : [])).join("");
/** Removes ids, which differ between answers, and fields added by the SDK's helpers. */
const lasting = ({ output }: Response) =>
  JSON.parse(JSON.stringify(output), (key, value: unknown) => (key === "id" || key === "parsed" ? undefined : value));

await check("a response: text, status, usage, request id", async () => {
  const response = await client.responses.create(asking(CAPITAL));
  equal(response.output_text, CAPITAL_ANSWER);
  equal(response.status, "completed");
  const { input_tokens, output_tokens, total_tokens } = response.usage ?? {};
  equal(total_tokens, (input_tokens ?? 0) + (output_tokens ?? 0));
  ok(response._request_id, "no request id");
});

await check("create as a stream: numbered events, deltas that add up", async () => {
  const events: ResponseStreamEvent[] = [];
  for await (const event of await client.responses.create({ ...asking(CAPITAL), stream: true })) events.push(event);
  same(
    events.map(({ sequence_number }) => sequence_number),
    events.map((_, index) => index),
  );
  const deltas = events.map((event) => (event.type === "response.output_text.delta" ? event.delta : ""));
  equal(deltas.join(""), CAPITAL_ANSWER);
});

await check("responses.stream: text events, and the final response that create gives", async () => {
  const whole = await client.responses.create(asking(CAPITAL));
  const stream = client.responses.stream(asking(CAPITAL));
  let told = "";
  stream.on("response.output_text.delta", ({ delta }) => (told += delta));
  const final = await stream.finalResponse();
  equal(told, CAPITAL_ANSWER);
  equal(outputText(final), CAPITAL_ANSWER);
  same(lasting(final), lasting(whole));
  equal(final.usage?.output_tokens, whole.usage?.output_tokens);
  equal(final.usage?.input_tokens, whole.usage?.input_tokens);
});

await check("a limit makes it incomplete, streamed or not", async () => {
  const request = { ...asking(CAPITAL), max_output_tokens: 3 };
  const whole = await client.responses.create(request);
  same([whole.status, whole.incomplete_details?.reason], ["incomplete", "max_output_tokens"]);
  equal(whole.usage?.output_tokens, 3);
  // Without the stream helper, which in older versions supports only complete responses.
  const last = (await Array.fromAsync(await client.responses.create({ ...request, stream: true }))).at(-1);
  if (last?.type !== "response.incomplete") throw new Error(`${last?.type}`);
  same([last.response.status, outputText(last.response)], ["incomplete", whole.output_text]);
});

await check("instructions and messages with roles and parts", async () => {
  const messages = [
    { role: "developer" as const, content: "Be brief." },
    { role: "user" as const, content: [{ type: "input_text" as const, text: CAPITAL }] },
  ];
  const response = await client.responses.create({ ...asking(""), input: messages });
  const instructed = await client.responses.create({ ...asking(CAPITAL), instructions: "Be brief." });
  equal(instructed.output_text, response.output_text);
  equal(instructed.usage?.input_tokens, response.usage?.input_tokens);
  equal(instructed.instructions, "Be brief.");
});

await check("log probabilities cover the text", async () => {
  const response = await client.responses.create({
    ...asking(CAPITAL),
    top_logprobs: 2,
    include: ["message.output_text.logprobs"],
  });
  const [item] = response.output;
  const part = item?.type === "message" ? item.content[0] : undefined;
  const tokens = part?.type === "output_text" ? (part.logprobs ?? []) : [];
  equal(tokens.map(({ token }) => token).join(""), CAPITAL_ANSWER);
  ok(
    tokens.every(({ logprob, top_logprobs }) => logprob <= 0 && top_logprobs.length === 2),
    "wrong alternatives",
  );
});

const thinking = { ...asking(ADDITION), reasoning: { effort: "low" as const, summary: "auto" as const } };

await check("reasoning: an item before the answer, whole and streamed", async () => {
  const whole = await client.responses.create(thinking);
  same(
    whole.output.map(({ type }) => type),
    ["reasoning", "message"],
  );
  equal(whole.output_text, ADDITION_ANSWER);
  ok((whole.usage?.output_tokens_details.reasoning_tokens ?? 0) > 0, "no reasoning tokens");
  const stream = client.responses.stream(thinking);
  let told = "";
  stream.on("response.reasoning_summary_text.delta", ({ delta }) => (told += delta));
  const final = await stream.finalResponse();
  equal(told, thoughtsOf(whole));
  same(lasting(final), lasting(whole));
});

await check("no reasoning unless asked for", async () => {
  for (const off of [{}, { reasoning: { effort: "none" as "low" } }]) {
    const response = await client.responses.create({ ...asking(ADDITION), ...off });
    equal(response.output_text, ADDITION_ANSWER);
    same(
      response.output.map(({ type }) => type),
      ["message"],
    );
  }
});

await check("an image is seen: another one changes the answer, its tokens are counted", async () => {
  const see = (data: string) =>
    vision.responses.create({
      ...asking(""),
      max_output_tokens: 16,
      input: [
        {
          role: "user",
          content: [
            { type: "input_image", image_url: `data:image/png;base64,${data}`, detail: "auto" },
            { type: "input_text", text: "What is this?" },
          ],
        },
      ],
    });
  const [one, again, other] = [await see(IMAGE), await see(IMAGE), await see(OTHER_IMAGE)];
  equal(again.output_text, one.output_text);
  ok(other.output_text !== one.output_text, "two images gave one answer");
  const blind = await vision.responses.create({ ...asking("What is this?"), max_output_tokens: 1 });
  ok((one.usage?.input_tokens ?? 0) > (blind.usage?.input_tokens ?? 0), "the image has no tokens");
});

await responseToolChecks(sdk);
await storedChecks(sdk);
await failureChecks({
  errors: OpenAI,
  ask: (server, input, extra, options) => sdk[server].responses.create({ ...story, input, ...extra } as never, options),
  stream: (server, input) => sdk[server].responses.create({ ...story, input, stream: true }),
  wrong: { temperature: "warm" },
  lost: () => client.responses.retrieve("resp_none"),
  detailsOf: (thrown) => {
    const error = thrown as InstanceType<typeof OpenAI.APIError>;
    const id = Reflect.get(error, "requestID") ?? Reflect.get(error, "request_id");
    return { param: error.param, code: error.code, requestId: id };
  },
  failedEvent: "response.failed",
});
summary();
