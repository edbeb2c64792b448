// Computes a key from a conversation's constant prefix, to find the replica that has the prefix in its cache.

import type { ContentPart, GenerateRequest, TokenIds } from "../domain/generate.ts";

/** Characters or tokens of an input, or of an image or sound, that count. */
const INPUT_LENGTH = 1024;

/** Returns a 32-bit key, equal for requests with the same prefix: up to and including the user's first turn. */
export function prefixKey({ messages, prompt, tools, allTools = tools }: GenerateRequest): number {
  if (prompt !== undefined) return inputKey(prompt);
  let key = 0;
  for (const { name } of allTools) key = hash(name, key);
  const first = messages.findIndex(({ role }) => role === "user");
  for (const { role, content } of messages.slice(0, first < 0 ? 1 : first + 1)) {
    key = hash(role, key);
    for (const part of typeof content === "string" ? [content] : content.map(textOf)) key = hash(part, key);
  }
  return key;
}

function textOf(part: ContentPart): string {
  if (part.type === "text") return part.text;
  const { source } = part;
  const content = source.kind === "image" ? source.url : source.data;
  return `${content.length} ${content.slice(0, INPUT_LENGTH)}`;
}

/** Returns the key of text or tokens without turns, from their first part. */
export const inputKey = (input: string | TokenIds = ""): number =>
  hash(typeof input === "string" ? input.slice(0, INPUT_LENGTH) : JSON.stringify(input.slice(0, INPUT_LENGTH)));

const hash = (value: string, seed = 0): number => Bun.hash.xxHash32(value, seed);

/**
 * Returns how well the replica at this URL suits a key; requests go to the highest score. The score is the same in every
 * process and does not depend on other replicas (rendezvous hashing), so that separate gateways agree.
 */
export const affinity = (url: string, key: number): number => hash(url, key);
