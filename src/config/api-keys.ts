// The keys that clients must have: from the values of the options, and the files they name, to names and keys.

import { UsageError } from "./parse.ts";
import { readText } from "./read-text.ts";
import { KEY, KEY_NAME } from "./secrets.ts";

/** Characters from which on one = may be padding. */
const LEAST_PADDED = 12;

export interface ApiKey {
  /** The client that it makes of its requests. Several keys may have one name. */
  readonly name: string;
  /** Never logged. */
  readonly key: string;
}

/**
 * The keys that were given and those in `files`, `KEY` or `NAME=KEY` each; one without a name is called by its place among all.
 * Throws UsageError, also about a file without a key: it would leave the server open.
 */
export function parseApiKeys(given: readonly string[], files: readonly string[]): readonly ApiKey[] {
  const keys = [...given, ...files.flatMap(linesOf)].map((item, index) => parse(item, index + 1));
  const names = new Map<string, string>();
  for (const { name, key } of keys) {
    const other = names.get(key) ?? name;
    if (other !== name) throw new UsageError(`The API keys ${other} and ${name} are the same.`);
    names.set(key, name);
  }
  return keys;
}

/** A line each, without blank ones and those that begin with #. */
function linesOf(file: string): string[] {
  const lines = readText(file, "file of API keys")
    .split("\n")
    .map((line) => line.trim())
    .filter((line) => line !== "" && !line.startsWith("#"));
  if (lines.length === 0) throw new UsageError(`The file of API keys ${file} contains no key.`);
  return lines;
}

/** What was given stays out of messages. */
function parse(item: string, place: number): ApiKey {
  const equals = item.indexOf("=");
  const isNamed = KEY_NAME.test(item.slice(0, Math.max(equals, 0))) && !isPadded(item);
  const [name, key] = isNamed ? [item.slice(0, equals), item.slice(equals + 1)] : [`key-${place}`, item];
  if (/^=*$/.test(key)) throw new UsageError(`API key ${place} of those given is empty: write NAME=KEY.`);
  if (KEY.test(key)) return { name, key };
  throw new UsageError(
    `The API key ${name} must be visible ASCII characters; its ${key.length} characters include others.`,
  );
}

/** A key in base64 without a name, whose = belong to it. A short word or one in small letters before one = is a name without a key. */
function isPadded(item: string): boolean {
  if (!/^[^=]+={1,2}$/.test(item) || Buffer.from(item, "base64").toString("base64") !== item) return false;
  return item.endsWith("==") || (item.length >= LEAST_PADDED && /[a-z]/.test(item) && /[A-Z]/.test(item));
}
