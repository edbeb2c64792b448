// Parses the addresses and keys of upstreams from the option values.

import { KEY, KEY_NAME } from "./api-keys.ts";
import { UsageError } from "./parse.ts";

interface UpstreamConfig {
  readonly name: string;
  /** Addresses of the replicas, without a trailing `/v1`. */
  readonly urls: readonly string[];
  /** Bearer token; never logged. */
  readonly key?: string;
}

/** Parses `name=url` items; a repeated name adds a replica. Throws UsageError. */
export function parseUpstreams(given: readonly string[]): readonly UpstreamConfig[] {
  const urls = new Map<string, string[]>();
  for (const item of given) {
    const [name, url] = splitPair(item, "upstream", "name=url");
    urls.set(name, [...(urls.get(name) ?? []), normalUrl(url, name)]);
  }
  return [...urls].map(([name, all]) => ({ name, urls: [...new Set(all)] }));
}

/** Adds keys, given as `name=key`, to the upstreams with these names, if there are any. Throws UsageError. */
export function withKeys(upstreams: readonly UpstreamConfig[], keys: readonly string[]): readonly UpstreamConfig[] {
  const keyOf = new Map(keys.map(splitKey));
  for (const [name, key] of keyOf) {
    if (!KEY.test(key)) {
      throw new UsageError(
        `The upstream-key of "${name}" must be visible ASCII characters; its ${key.length} characters include others.`,
      );
    }
  }
  return upstreams.map((upstream) => {
    const key = keyOf.get(upstream.name);
    return key === undefined ? upstream : { ...upstream, key };
  });
}

/** Returns the names that keys, given as `name=key`, are for, but no upstream has. Throws UsageError. */
export function namesWithoutUpstream(keys: readonly string[], upstreams: readonly UpstreamConfig[]): readonly string[] {
  const known = upstreams.map(({ name }) => name);
  return keys.map((given) => splitKey(given)[0]).filter((name) => !known.includes(name));
}

const splitKey = (given: string) => splitPair(given, "upstream-key", "name=key");

/** Splits `name=value`. The error message never contains the given text, which may be a key. */
function splitPair(given: string, option: string, form: string): [name: string, value: string] {
  const equals = given.indexOf("=");
  const [name, value] = [given.slice(0, Math.max(equals, 0)), given.slice(equals + 1)];
  if (KEY_NAME.test(name) && value !== "") return [name, value];
  throw new UsageError(`${option} must be ${form}, with a name of letters, digits, "_", "." and "-".`);
}

function normalUrl(given: string, name: string): string {
  const url = URL.parse(given);
  const isHttp = url?.protocol === "http:" || url?.protocol === "https:";
  if (!url || !isHttp || url.search !== "" || url.hash !== "") {
    throw new UsageError(`The address of upstream "${name}" must be an http or https URL without query.`);
  }
  if (url.username !== "" || url.password !== "") {
    throw new UsageError(`The address of upstream "${name}" contains a password: set a key with upstream-key instead.`);
  }
  return url.href.replace(/\/+$/, "").replace(/\/v1$/, "");
}

/** Parses port numbers. Throws UsageError. */
export function parsePorts(given: readonly string[]): readonly number[] {
  return given.map((port) => {
    const value = /^\d{1,5}$/.test(port) ? Number(port) : 0;
    if (value >= 1 && value <= 65_535) return value;
    throw new UsageError("gateway-port must be port numbers from 1 to 65535.");
  });
}
