// The official TypeScript SDK of the messages convention as one folder has it installed: `.` the newest major version,
// `older` one before.

import { join } from "node:path";
import type { Anthropic as Client } from "@anthropic-ai/sdk";

type Package = typeof import("@anthropic-ai/sdk");
type JsonHelpers = typeof import("@anthropic-ai/sdk/helpers/beta/json-schema");
type ZodHelpers = typeof import("@anthropic-ai/sdk/helpers/beta/zod");

/** The SDK, its helpers and the version of zod beside it, typed as the newest ones. */
export interface AnthropicSdk
  extends
    Pick<JsonHelpers, "betaTool" | "betaJSONSchemaOutputFormat">,
    Pick<ZodHelpers, "betaZodTool" | "betaZodOutputFormat"> {
  readonly version: string;
  readonly Anthropic: Package["Anthropic"];
  readonly z: (typeof import("zod"))["z"];
  /** Talks to svc-mini. */
  readonly client: Client;
  /** Talks to a model that never ends its answer. */
  readonly endless: Client;
  /** Talks to the same model, which takes one request at a time and whose engine may be ended. */
  readonly narrow: Client;
  /** Talks to a model that sees. */
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
