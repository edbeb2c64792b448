// Options for answering one prompt without a server.

import { string } from "../option-types.ts";

export const oneShotOptions = {
  prompt: string({
    aliases: ["s"],
    placeholder: "TEXT",
    help: "Answer this prompt on standard output and exit. Piped text is appended to the prompt; - takes the whole prompt from standard input.",
  }),
  instructions: string({ aliases: ["i"], placeholder: "TEXT", help: "System message for a one-shot prompt." }),
};
