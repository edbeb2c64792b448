// Uses test requests to find out what models of vLLM and SGLang can do, because their lists do not say.

import { fields, objects } from "./fields.ts";
import type { ServerClient } from "./server-client.ts";
import { CHAT, EMBEDDINGS, type RemoteModel } from "./server-description.ts";
import { UpstreamFailure } from "./upstream-failure.ts";

/** Capabilities that these servers give every model that generates text. */
const ALWAYS = [...CHAT, "penalties", "structured_output", "grammar"];

/** The purpose of a server's models; `other`: a purpose without a common API, such as rankings. */
type Purpose = "writing" | "vectors" | "other";

/**
 * Returns a function that adds the capabilities to a model; it returns undefined when the server does not answer in
 * time. Generates one token per request and model; queries about the server are sent once for all its models.
 */
export function testCapabilities(client: ServerClient): (model: RemoteModel) => Promise<RemoteModel | undefined> {
  let asking: Promise<Purpose | undefined> | undefined;
  return async (model) => {
    const purpose = await (asking ??= askPurpose(client));
    if (purpose === "writing") return ofWriter(client, model);
    return purpose && { ...model, capabilities: purpose === "vectors" ? EMBEDDINGS : [] };
  };
}

async function ofWriter(client: ServerClient, model: RemoteModel): Promise<RemoteModel | undefined> {
  const withTools = await tryAnswer(client, model.id, TOOL);
  const answer = withTools === "refused" ? await tryAnswer(client, model.id, {}) : withTools;
  if (answer === undefined) return undefined;
  const found = [
    ...(withTools === "refused" ? [] : ["tools"]),
    ...(answer !== "refused" && answer.hasLogprobs ? ["logprobs"] : []),
  ];
  return { ...model, capabilities: [...ALWAYS, ...found] };
}

/** vLLM serves only the routes for its model's purpose; SGLang reports the purpose with the model. */
async function askPurpose(client: ServerClient): Promise<Purpose | undefined> {
  const info = await client.get("/get_model_info").catch(() => undefined);
  const reported = fields(info?.body)["is_generation"];
  if (typeof reported === "boolean") return reported ? "writing" : "vectors";
  const api = await client.get("/openapi.json").catch(() => undefined);
  const { paths } = fields(api?.body);
  if (paths === undefined) return undefined;
  const serves = (path: string) => Object.hasOwn(fields(paths), path);
  return serves("/v1/chat/completions") ? "writing" : serves("/v1/embeddings") ? "vectors" : "other";
}

const TOOL = {
  tools: [{ type: "function", function: { name: "noop", parameters: { type: "object", properties: {} } } }],
  tool_choice: "auto",
};

/**
 * Requests one token. Returns `refused` when the server does not accept such a request, and undefined after another
 * failure.
 */
async function tryAnswer(client: ServerClient, model: string, extra: object) {
  const messages = [{ role: "user", content: "hi" }];
  const body = { model, messages, max_tokens: 1, logprobs: true, top_logprobs: 1, ...extra };
  try {
    const [choice] = objects(fields(await client.ask("/v1/chat/completions", body))["choices"]);
    return { hasLogprobs: Array.isArray(fields(choice?.["logprobs"])["content"]) };
  } catch (error) {
    return error instanceof UpstreamFailure && error.error.code === "invalid_value" ? "refused" : undefined;
  }
}
