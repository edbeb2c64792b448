// Where models are downloaded from, by the environment variables that other programs read too.

import type { Environment } from "./environment.ts";
import { UsageError } from "./parse.ts";
import { version } from "./version.ts";

export interface HubSettings {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly token?: string;
  readonly userAgent: string;
}

const HUGGING_FACE = "https://huggingface.co";

/** HF_ENDPOINT names a mirror, HF_TOKEN opens private and gated repositories. Throws UsageError. */
export function hubSettings(environment: Environment): HubSettings {
  const endpoint = (environment["HF_ENDPOINT"] || HUGGING_FACE).replace(/\/+$/, "");
  const token = environment["HF_TOKEN"]?.trim() || undefined;
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint))
    throw new UsageError("HF_ENDPOINT must be an http(s) URL.");
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new UsageError("HF_TOKEN must be one word of ASCII characters.");
  return { endpoint, ...(token !== undefined && { token }), userAgent: `svc/${version}` };
}
