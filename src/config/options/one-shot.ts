// One prompt, one answer, no server.

import type { Option } from "../option.ts";

export const oneShotOptions: readonly Option[] = [
  {
    name: "prompt",
    aliases: ["s"],
    group: "One-shot",
    type: "string",
    placeholder: "TEXT",
    help: "Answer this prompt on standard output and exit; - reads it from standard input.",
  },
  {
    name: "instructions",
    aliases: ["i"],
    group: "One-shot",
    type: "string",
    placeholder: "TEXT",
    help: "System message for a one-shot prompt.",
  },
];
