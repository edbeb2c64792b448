// Where models are downloaded from, according to environment variables that other programs use too.

import type { Environment } from "./environment.ts";
import { UsageError } from "./parse.ts";
import { userAgent } from "./version.ts";

export interface HubSettings {
  /** Address of the hub, without a trailing slash. */
  readonly endpoint: string;
  readonly token?: string;
  readonly userAgent: string;
}

const HUGGING_FACE = "https://huggingface.co";
const NPM = "https://registry.npmjs.org";

/** Reads HF_ENDPOINT (a mirror of the hub) and HF_TOKEN (access to private and gated repositories). Throws UsageError. */
export function hubSettings(environment: Environment): HubSettings {
  const endpoint = addressIn(environment, "HF_ENDPOINT", HUGGING_FACE);
  const token = environment["HF_TOKEN"]?.trim() || undefined;
  if (token !== undefined && !/^[\x21-\x7e]+$/.test(token))
    throw new UsageError("HF_TOKEN must be one word of ASCII characters.");
  return { endpoint, ...(token !== undefined && { token }), userAgent };
}

/** Returns the address of npm's registry, or of the mirror in NPM_CONFIG_REGISTRY. Throws UsageError. */
export const npmRegistry = (environment: Environment): string => addressIn(environment, "NPM_CONFIG_REGISTRY", NPM);

/** Returns the address in a variable, without a trailing slash. */
function addressIn(environment: Environment, variable: string, usual: string): string {
  const address = (environment[variable] || usual).replace(/\/+$/, "");
  if (!/^https?:\/\//i.test(address) || !URL.canParse(address))
    throw new UsageError(`${variable} must be an http(s) URL.`);
  return address;
}
