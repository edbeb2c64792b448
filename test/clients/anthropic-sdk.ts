// The official TypeScript SDK of the Messages API, as installed in a folder: `.` has the newest major version,
// `older` an earlier one.

import { join } from "node:path";
import type { Anthropic as Client } from "@anthropic-ai/sdk";

type Package = typeof import("@anthropic-ai/sdk");
type JsonHelpers = typeof import("@anthropic-ai/sdk/helpers/beta/json-schema");
type ZodHelpers = typeof import("@anthropic-ai/sdk/helpers/beta/zod");

/** The SDK, its helpers and its version of zod, with the types of the newest ones. */
export interface AnthropicSdk
  extends
    Pick<JsonHelpers, "betaTool" | "betaJSONSchemaOutputFormat">,
    Pick<ZodHelpers, "betaZodTool" | "betaZodOutputFormat"> {
  readonly version: string;
  readonly Anthropic: Package["Anthropic"];
  readonly z: (typeof import("zod"))["z"];
  /** A client for svc-mini. */
  readonly client: Client;
  /** A client for a model that never ends its answer. */
  readonly endless: Client;
  /** A client for the same model with one request at a time, whose engine may be killed. */
  readonly narrow: Client;
  /** A client for a model with vision. */
  readonly vision: Client;
}

export async function loadAnthropicSdk(folder: string): Promise<AnthropicSdk> {
  const load = async (name: string) => import(Bun.resolveSync(name, join(import.meta.dir, folder)));
  const { Anthropic } = (await load("@anthropic-ai/sdk")) as Package;
  const { betaTool, betaJSONSchemaOutputFormat } = (await load(
    "@anthropic-ai/sdk/helpers/beta/json-schema",
  )) as JsonHelpers;
  const { betaZodTool, betaZodOutputFormat } = (await load("@anthropic-ai/sdk/helpers/beta/zod")) as ZodHelpers;
  const { z } = (await load("zod")) as typeof import("zod");
  const { version } = (await load("@anthropic-ai/sdk/package.json")) as { version: string };
  const clientFor = (name: string) =>
    new Anthropic({ baseURL: process.env[name] ?? "", apiKey: "unused", maxRetries: 0 });
  return {
    version,
    Anthropic,
    z,
    betaTool,
    betaJSONSchemaOutputFormat,
    betaZodTool,
    betaZodOutputFormat,
    client: clientFor("SVC_URL"),
    endless: clientFor("ENDLESS_URL"),
    narrow: clientFor("NARROW_URL"),
    vision: clientFor("VISION_URL"),
  };
}
