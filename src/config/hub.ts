// Where models are downloaded from, according to environment variables that other programs use too.

import type { Environment } from "./environment.ts";
import { UsageError } from "./parse.ts";
import { version } from "./version.ts";

export interface HubSettings {
  /** Address of the hub, without a trailing slash. */
  readonly endpoint: string;
  readonly token?: string;
  readonly userAgent: string;
  /** Address of the npm registry, without a trailing slash. */
  readonly packageRegistry: string;
}

const HUGGING_FACE = "https://huggingface.co";
const NPM = "https://registry.npmjs.org";

/**
 * Reads HF_ENDPOINT (a mirror of the hub), HF_TOKEN (access to private and gated repositories) and NPM_CONFIG_REGISTRY
 * (a mirror of npm's registry). Throws UsageError.
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
