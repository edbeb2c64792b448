// What --lora says of one adapter: [NAME=]FILE[:SCALE].

import { basename } from "node:path";
import type { Adapter } from "../domain/adapters.ts";
import { UsageError } from "./parse.ts";

/** A name has no slash, so that a path with an equals sign can be written as ./a=b.gguf. */
const FORM = /^(?:([^=/]*)=)?(.+?)(?::(-?\d+(?:\.\d+)?))?$/;
const NAME = /^[\w.:+-]{1,128}$/;
const LARGEST_SCALE = 100;

/** The same with the path that `absolute` makes of its own. */
export function withAbsoluteFile(item: string, absolute: (path: string) => string): string {
  const [, name, path, scale] = FORM.exec(item) ?? [];
  if (path === undefined) return item;
  return `${name === undefined ? "" : `${name}=`}${absolute(path)}${scale === undefined ? "" : `:${scale}`}`;
}

/** The adapters that are offered, without a name under that of their file. Throws UsageError. */
export function parseAdapters(items: readonly string[]): readonly Adapter[] {
  const adapters = items.map(parseAdapter);
  const names = adapters.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new UsageError(`--lora has two adapters of the name ${twice}; NAME=FILE gives another.`);
  return adapters;
}

function parseAdapter(item: string): Adapter {
  const [, given, path = "", scale = "0"] = FORM.exec(item) ?? [];
  const name = given ?? basename(path).replace(/\.gguf$/i, "");
  if (!NAME.test(name)) {
    throw new UsageError(`--lora must have names of 1 to 128 letters, digits or .:_+- (NAME=FILE), not "${name}".`);
  }
  if (Math.abs(Number(scale)) > LARGEST_SCALE) {
    throw new UsageError(`--lora must have scales from -${LARGEST_SCALE} to ${LARGEST_SCALE}, not ${scale}.`);
  }
  return { name, path, scale: Number(scale) };
}
