// Parses the values of --lora and --image-lora: [NAME=]FILE[:SCALE] per adapter.

import { basename } from "node:path";
import type { Adapter } from "../domain/adapters.ts";
import { UsageError } from "./parse.ts";

/** Names must not contain a slash, so that a path with an equals sign can be written as ./a=b.gguf. */
const FORM = /^(?:([^=/]*)=)?(.+?)(?::(-?\d+(?:\.\d+)?))?$/;
const NAME = /^[\w.:+-]{1,128}$/;
const LARGEST_SCALE = 100;

/** Returns the item with its path replaced by `absolute(path)`. */
export function withAbsoluteFile(item: string, absolute: (path: string) => string): string {
  const [, name, path, scale] = FORM.exec(item) ?? [];
  if (path === undefined) return item;
  return `${name === undefined ? "" : `${name}=`}${absolute(path)}${scale === undefined ? "" : `:${scale}`}`;
}

/** Parses --lora; an adapter without a name is named after its file. Throws UsageError. */
export const parseAdapters = (items: readonly string[]): readonly Adapter[] => parse(items, "--lora");

/** Parses --image-lora, which takes no scales: each request specifies the scale. Throws UsageError. */
export function parseImageAdapters(items: readonly string[]): readonly Adapter[] {
  const adapters = parse(items, "--image-lora");
  const scaled = adapters.find(({ scale }) => scale !== 0);
  if (scaled)
    throw new UsageError(`--image-lora takes no scale, but ${scaled.name} has one: each request sets its own.`);
  return adapters;
}

function parse(items: readonly string[], option: string): readonly Adapter[] {
  const adapters = items.map((item) => parseAdapter(item, option));
  const names = adapters.map(({ name }) => name);
  const twice = names.find((name, at) => names.indexOf(name) !== at);
  if (twice !== undefined)
    throw new UsageError(`${option} has two adapters with the name ${twice}; NAME=FILE gives an adapter another name.`);
  return adapters;
}

function parseAdapter(item: string, option: string): Adapter {
  const [, given, path = "", scale = "0"] = FORM.exec(item) ?? [];
  const name = given ?? basename(path).replace(/\.(gguf|safetensors)$/i, "");
  if (!NAME.test(name)) {
    throw new UsageError(`${option} must have names of 1 to 128 letters, digits or .:_+- (NAME=FILE), not "${name}".`);
  }
  if (Math.abs(Number(scale)) > LARGEST_SCALE) {
    throw new UsageError(`${option} must have scales from -${LARGEST_SCALE} to ${LARGEST_SCALE}, not ${scale}.`);
  }
  return { name, path, scale: Number(scale) };
}
