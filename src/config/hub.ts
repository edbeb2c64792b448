// Where models are downloaded from, by the environment variables that other programs read too.

import type { Environment } from "./environment.ts";
import { UsageError } from "./parse.ts";
import { version } from "./version.ts";

export interface HubSettings {
  /** Without a slash at its end. */
  readonly endpoint: string;
  readonly token?: string;
  readonly userAgent: string;
  /** Of npm packages, likewise without a slash. */
  readonly packageRegistry: string;
}

const HUGGING_FACE = "https://huggingface.co";
const NPM = "https://registry.npmjs.org";

/**
 * HF_ENDPOINT names a mirror, HF_TOKEN opens private and gated repositories; NPM_CONFIG_REGISTRY names a mirror of npm's
 * registry. Throws UsageError.
 */
export function hubSettings(environment: Environment): HubSettings {
  const endpoint = (environment["HF_ENDPOINT"] || HUGGING_FACE).replace(/\/+$/, "");
  const packageRegistry = (environment["NPM_CONFIG_REGISTRY"] || NPM).replace(/\/+$/, "");
  if (!/^https?:\/\//i.test(packageRegistry) || !URL.canParse(packageRegistry))
    throw new UsageError("NPM_CONFIG_REGISTRY must be an http(s) URL.");
  const token = environment["HF_TOKEN"]?.trim() || undefined;
  if (!/^https?:\/\//i.test(endpoint) || !URL.canParse(endpoint))
    throw new UsageError("HF_ENDPOINT must be an http(s) URL.");
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new UsageError("HF_TOKEN must be one word of ASCII characters.");
  return { endpoint, packageRegistry, ...(token !== undefined && { token }), userAgent: `svc/${version}` };
}
