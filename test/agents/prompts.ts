// Checks that each prompt of a conversation continues the one before, so that a server with a prefix cache computes
// only the new part.

import { isDeepStrictEqual } from "node:util";
import type { GenerateRequest } from "../../src/domain/generate.ts";

/** Throws when a request does not begin with the messages and tools of the request before it. */
export function goesOn(requests: readonly GenerateRequest[]): void {
  if (requests.length < 2) throw new Error("there is only one prompt");
  for (const [index, { messages, tools }] of requests.entries()) {
    const next = requests[index + 1];
    if (!next) return;
    for (const [place, message] of messages.entries()) {
      if (isDeepStrictEqual(message, next.messages[place])) continue;
      throw new Error(`message ${place} of prompt ${index} is another one in prompt ${index + 1}`);
    }
    if (!isDeepStrictEqual(listed(tools), listed(next.tools))) throw new Error(`prompt ${index + 1} has other tools`);
    if (next.messages[messages.length]?.role !== "assistant") throw new Error(`no answer follows prompt ${index}`);
  }
}

/** Returns the tools that a prompt lists. */
const listed = (tools: GenerateRequest["tools"]) => tools.filter(({ described }) => !described);
