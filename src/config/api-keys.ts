// Parses the API keys of clients from the option values and from the files that they name.

import { UsageError } from "./parse.ts";
import { readText } from "./read-text.ts";

/** A name of a key, usable in logs and metric labels without escaping. */
export const KEY_NAME = /^[A-Za-z0-9][\w.-]{0,63}$/;
/** A key that fits into an HTTP header. */
export const KEY = /^[\x21-\x7e]+$/;
/** Minimum length at which a single trailing = may be base64 padding. */
const LEAST_PADDED = 12;

export interface ApiKey {
  /** The client to which requests with this key belong. Several keys may have the same name. */
  readonly name: string;
  /** Never logged. */
  readonly key: string;
}

/**
 * Parses the keys in `given` and in `files`, each `KEY` or `NAME=KEY`; a key without a name is named by its position.
 * Throws UsageError, also for a file without keys, which would leave the server open.
 */
export function parseApiKeys(given: readonly string[], files: readonly string[]): readonly ApiKey[] {
  const items = [...given.map((text) => ({ text, place: "" })), ...files.flatMap(itemsOf)];
  const names = new Map<string, string>();
  return items.map((item, index) => {
    const { name, key } = parse(item, index + 1);
    const other = names.get(key) ?? name;
    if (other !== name) throw new UsageError(`The API keys ${other} and ${name}${item.place} are the same.`);
    names.set(key, name);
    return { name, key };
  });
}

interface Item {
  readonly text: string;
  /** Where the item is, for errors; empty for the value of an option. */
  readonly place: string;
}

/** Returns the lines of a file, without blank lines and lines that begin with #. */
function itemsOf(file: string): Item[] {
  const items = readText(file, "file of API keys")
    .split("\n")
    .map((line, index) => ({ text: line.trim(), place: ` (line ${index + 1} of ${file})` }))
    .filter(({ text }) => text !== "" && !text.startsWith("#"));
  if (items.length === 0) throw new UsageError(`The file of API keys ${file} contains no key.`);
  return items;
}

/** Parses one key. Error messages never contain the given text. */
function parse({ text, place }: Item, position: number): ApiKey {
  const equals = text.indexOf("=");
  const isNamed = KEY_NAME.test(text.slice(0, Math.max(equals, 0))) && !isPadded(text);
  const [name, key] = isNamed ? [text.slice(0, equals), text.slice(equals + 1)] : [`key-${position}`, text];
  if (/^=*$/.test(key)) throw new UsageError(`API key ${position} of those given${place} is empty: write NAME=KEY.`);
  if (KEY.test(key)) return { name, key };
  // Without the name, which may be a part of the key.
  const what = "must be visible ASCII characters, as NAME=KEY or alone";
  throw new UsageError(`API key ${position} of those given${place} ${what}; ${text.length} characters include others.`);
}

/** Returns whether an item is an unnamed, padded base64 key. A short or lower-case word before a single = is a name. */
function isPadded(item: string): boolean {
  if (!/^[^=]+={1,2}$/.test(item) || Buffer.from(item, "base64").toString("base64") !== item) return false;
  return item.endsWith("==") || (item.length >= LEAST_PADDED && /[a-z]/.test(item) && /[A-Z]/.test(item));
}
