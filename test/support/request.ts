// A generation request with default values.

import { PLAIN, type GenerateRequest } from "../../src/domain/generate.ts";

export const plainRequest = (content: string, changes: Partial<GenerateRequest> = {}): GenerateRequest => ({
  id: "r1",
  ...PLAIN,
  messages: [{ role: "user", content }],
  thinking: false,
  sampling: {},
  stop: [],
  choices: 1,
  ...changes,
});
