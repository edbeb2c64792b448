// Options of the engine that concern guessing ahead.

import type { Option } from "../option.ts";

export const speculationOptions: readonly Option[] = [
  {
    name: "speculation",
    group: "Engine",
    type: "boolean",
    default: true,
    help: "Guess next tokens where an answer repeats what was said before, and with --draft elsewhere, and check them together; the answers are the same without.",
  },
  {
    name: "draft-max",
    group: "Engine",
    type: "integer",
    minimum: 1,
    maximum: 32,
    default: 8,
    help: "Most tokens that the draft model guesses ahead of one check.",
  },
  {
    name: "draft-p-min",
    group: "Engine",
    type: "number",
    minimum: 0,
    maximum: 1,
    default: 0,
    help: "Least probability that the draft model must give a token; a less probable one ends the guesses.",
  },
  {
    name: "draft-adaptive",
    group: "Engine",
    type: "boolean",
    default: true,
    help: "Draft as many tokens as pay, none included; --no-draft-adaptive always drafts --draft-max.",
  },
];
