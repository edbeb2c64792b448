// What a conversation keeps from turn to turn: by it, its turns find the replica that has their beginning in its cache.

import type { GenerateRequest } from "../domain/generate.ts";

/** Raw text has no turns: its beginning counts. */
const PROMPT_LENGTH = 1024;

/** A text that is equal for requests with equal beginnings: up to and with the first turn of the user. */
export function prefixKey({ messages, prompt, tools, allTools = tools }: GenerateRequest): string {
  if (prompt !== undefined) return JSON.stringify(prompt.slice(0, PROMPT_LENGTH));
  const first = messages.findIndex(({ role }) => role === "user");
  const beginning = messages.slice(0, first < 0 ? 1 : first + 1).map(({ role, content }) => [role, content]);
  return JSON.stringify([allTools.map(({ name }) => name), beginning]);
}

/** The candidates in the order of a key: the same whoever else is there (rendezvous hashing). */
export function byAffinity<T extends { readonly url: string }>(candidates: readonly T[], key: string): T[] {
  const scored = candidates.map((candidate) => ({ candidate, score: Bun.hash(`${candidate.url}\n${key}`) as bigint }));
  return scored.toSorted((a, b) => (a.score < b.score ? 1 : -1)).map(({ candidate }) => candidate);
}
