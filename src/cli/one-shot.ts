// `svc -s "prompt"`: prints one answer without listening; --json prints the whole chat completion.

import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Config } from "../config/config.ts";
import { ExitError } from "./exit-codes.ts";
import { withApi } from "./in-process.ts";
import { writeOut } from "./write-out.ts";

/**
 * Streams the answer to standard output and returns the exit code. A reader that closes the pipe (`| head -1`) ends the
 * answer without an error. Throws ExitError.
 */
export async function answer(config: Config, prompt: string, asJson: boolean): Promise<number> {
  const { instructions } = config;
  const system = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const body = { messages: [...system, { role: "user", content: prompt }], stream: config.streaming && !asJson };
  return withApi(
    config,
    async ({ ask }) => {
      const response = await ask("/v1/chat/completions", body);
      if (asJson) await writeOut(`${await response.text()}\n`);
      else await print(body.stream ? streamed(response) : whole(response));
    },
    { loadsModel: true },
  );
}

/** Prints each text as it arrives, and a line break at the end if there is none. */
async function print(texts: AsyncIterable<string>): Promise<void> {
  let last = "";
  for await (const text of texts) {
    if (!(await writeOut(text))) return;
    last = text;
  }
  if (!last.endsWith("\n")) await writeOut("\n");
}

async function* whole(response: Response): AsyncGenerator<string> {
  const { choices } = (await response.json()) as { choices: [{ message: { content: string | null } }] };
  yield choices[0].message.content ?? "";
}

/** The fields of a stream's chunk that are used. */
interface Chunk {
  readonly choices?: readonly { readonly delta: { readonly content?: string | null } }[];
  readonly error?: { readonly message: string };
}

/** Yields the text of a stream. Throws ExitError when the answer breaks off, with the server's message if any. */
async function* streamed({ body }: Response): AsyncGenerator<string> {
  const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()) ?? [];
  for await (const { data } of events) {
    if (data === "[DONE]") return;
    const { choices, error } = JSON.parse(data) as Chunk;
    if (error) throw new ExitError("failure", error.message);
    const text = choices?.[0]?.delta.content;
    if (text) yield text;
  }
  throw new ExitError("failure", "The answer broke off.");
}
