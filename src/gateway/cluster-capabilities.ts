// What a model of vLLM or SGLang can do: found out by asking its server, whose list of models does not tell.

import { fields, objects } from "./fields.ts";
import type { ServerClient } from "./server-client.ts";
import { CHAT, EMBEDDINGS, type RemoteModel } from "./server-description.ts";
import { UpstreamFailure } from "./upstream-failure.ts";

/** What these servers hold every model to that writes. */
const ALWAYS = [...CHAT, "penalties", "structured_output", "grammar"];

/**
 * Gives a model with what its server shows of it; undefined when that does not answer in time. Costs it a token a model; what is
 * about the server is queried once for all of its models.
 */
export function askCapabilities(
  client: ServerClient,
  timeoutMs: number,
): (model: RemoteModel) => Promise<RemoteModel | undefined> {
  let writing: Promise<boolean | undefined> | undefined;
  return async (model) => {
    const writes = await (writing ??= canWrite(client, timeoutMs));
    if (writes === undefined) return undefined;
    return writes ? ofWriter(client, model, timeoutMs) : { ...model, capabilities: EMBEDDINGS };
  };
}

async function ofWriter(client: ServerClient, model: RemoteModel, timeoutMs: number): Promise<RemoteModel | undefined> {
  const withTools = await tryAnswer(client, model.id, TOOL, timeoutMs);
  const answer = withTools === "refused" ? await tryAnswer(client, model.id, {}, timeoutMs) : withTools;
  if (answer === undefined) return undefined;
  const found = [
    ...(withTools === "refused" ? [] : ["tools"]),
    ...(answer !== "refused" && answer.hasLogprobs ? ["logprobs"] : []),
  ];
  return { ...model, capabilities: [...ALWAYS, ...found] };
}

/** vLLM serves the routes of what its model is for, SGLang says it of the model. */
async function canWrite(client: ServerClient, timeoutMs: number): Promise<boolean | undefined> {
  const info = await client.get("/get_model_info", timeoutMs).catch(() => undefined);
  const told = fields(info?.body)["is_generation"];
  if (typeof told === "boolean") return told;
  const api = await client.get("/openapi.json", timeoutMs).catch(() => undefined);
  const { paths } = fields(api?.body);
  return paths === undefined ? undefined : Object.hasOwn(fields(paths), "/v1/chat/completions");
}

const TOOL = {
  tools: [{ type: "function", function: { name: "noop", parameters: { type: "object", properties: {} } } }],
  tool_choice: "auto",
};

/** A token of an answer; `refused`: the server does not take such a request. */
async function tryAnswer(client: ServerClient, model: string, extra: object, timeoutMs: number) {
  const messages = [{ role: "user", content: "hi" }];
  const body = { model, messages, max_tokens: 1, logprobs: true, top_logprobs: 1, ...extra };
  const signal = AbortSignal.timeout(timeoutMs);
  try {
    const response = await client.post("/v1/chat/completions", body, {}, signal);
    const [choice] = objects(fields(await response.json())["choices"]);
    return { hasLogprobs: Array.isArray(fields(choice?.["logprobs"])["content"]) };
  } catch (error) {
    return error instanceof UpstreamFailure && error.error.code === "invalid_value" ? "refused" : undefined;
  }
}
