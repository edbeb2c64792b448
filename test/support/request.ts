// A generation request with nothing special about it.

import type { GenerateRequest } from "../../src/domain/generate.ts";

export const plainRequest = (content: string, changes: Partial<GenerateRequest> = {}): GenerateRequest => ({
  id: "r1",
  messages: [{ role: "user", content }],
  tools: [],
  toolChoice: "auto",
  parallelToolCalls: true,
  templateKwargs: {},
  thinking: false,
  sampling: {},
  stop: [],
  choices: 1,
  ...changes,
});
