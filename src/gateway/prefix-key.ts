// What a conversation keeps from turn to turn: by it, its turns find the replica that has their beginning in its cache.

import type { ChatMessage, GenerateRequest, TokenIds } from "../domain/generate.ts";

/** Characters or tokens. */
const INPUT_LENGTH = 1024;

/** A number of 32 bits that is equal for requests with equal beginnings: up to and with the first turn of the user. */
export function prefixKey({ messages, prompt, tools, allTools = tools }: GenerateRequest): number {
  if (prompt !== undefined) return inputKey(prompt);
  let key = 0;
  for (const { name } of allTools) key = hash(name, key);
  const first = messages.findIndex(({ role }) => role === "user");
  for (const { role, content } of messages.slice(0, first < 0 ? 1 : first + 1))
    key = hash(text(content), hash(role, key));
  return key;
}

/** The same of text or tokens without turns: their beginning counts. */
export const inputKey = (input: string | TokenIds = ""): number =>
  hash(text(input.slice(0, INPUT_LENGTH) as typeof input));

const text = (content: ChatMessage["content"] | TokenIds): string =>
  typeof content === "string" ? content : JSON.stringify(content);

const hash = (value: string, seed = 0): number => Bun.hash.xxHash32(value, seed);

/**
 * How well a replica suits a key: requests go to the highest. It is the same in every process and whoever else is there
 * (rendezvous hashing), so that gateways that do not know each other agree.
 */
export function affinity(urlHash: number, key: number): number {
  // Murmur3's finalizer: each bit of the input changes half of the output.
  let mixed = urlHash ^ key;
  mixed = Math.imul(mixed ^ (mixed >>> 16), 0x85ebca6b);
  mixed = Math.imul(mixed ^ (mixed >>> 13), 0xc2b2ae35);
  return (mixed ^ (mixed >>> 16)) >>> 0;
}

/** What stands for a replica in `affinity`. */
export const urlHashOf = (url: string): number => hash(url);
