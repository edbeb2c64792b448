// `svc -s "prompt"`: prints one answer without listening; --json prints the whole chat completion.

import { EventSourceParserStream } from "eventsource-parser/stream";
import type { Config } from "../config/config.ts";
import { ExitError } from "./exit-codes.ts";
import { withApi, type Api } from "./in-process.ts";
import { TOKENS } from "./live-line.ts";
import { commandProgress } from "./progress-line.ts";
import { writeWarning } from "./terminal.ts";
import { writeOut } from "./write-out.ts";

/** What is used of a stream's choice, or of the message of a whole answer. */
interface Piece {
  readonly content?: string | null;
  readonly reasoning_content?: string | null;
  readonly finish_reason?: string | null | undefined;
  /** At the end of the answer. */
  readonly timings?: { readonly predicted_n: number } | undefined;
}

/**
 * Streams the answer to standard output and returns the exit code. A reader that closes the pipe (`| head -1`) ends the
 * answer without an error. Throws as `withApi` does.
 */
export async function answer(config: Config, prompt: string, asJson: boolean): Promise<number> {
  const { instructions } = config;
  const system = instructions === undefined ? [] : [{ role: "system", content: instructions }];
  const body = { messages: [...system, { role: "user", content: prompt }], stream: config.streaming && !asJson };
  return withApi(config, "model", async ({ ask, requests }) => {
    const response = await ask("/v1/chat/completions", body);
    if (asJson) await writeOut(`${await response.text()}\n`);
    else await print(body.stream ? streamed(response) : whole(response), config, requests);
  });
}

/**
 * Prints each text as it arrives, and a line break at the end if there is none. Shows how far a model is that thinks
 * first, and tells when the answer was cut.
 */
async function print(pieces: AsyncIterable<Piece>, config: Config, requests: Api["requests"]): Promise<void> {
  const thinking = commandProgress(config, TOKENS);
  let last = "";
  let [isThinking, isCut] = [false, false];
  let tokens = 0;
  try {
    for await (const { content, reasoning_content: thought, finish_reason: reason, timings } of pieces) {
      if (reason === "length") isCut = true;
      if (timings) tokens = timings.predicted_n;
      if (thought) {
        isThinking = true;
        thinking.show({ name: "thinking", done: requests.live()[0]?.completionTokens ?? 0 });
      }
      if (!content) continue;
      isThinking = false;
      thinking.end();
      if (!(await writeOut(content))) return;
      last = content;
    }
  } finally {
    thinking.end();
  }
  if (!last.endsWith("\n")) await writeOut("\n");
  if (!isCut) return;
  const limit = tokens === config.maxTokens ? "at --max-tokens" : "at the end of the context (--ctx)";
  const hint = isThinking ? " while the model was thinking; with --no-think, it answers at once" : "";
  writeWarning(`The answer was cut ${limit}${hint}.`, config);
}

async function* whole(response: Response): AsyncGenerator<Piece> {
  const { choices, timings } = (await response.json()) as Pick<Piece, "timings"> & {
    choices: [Piece & { readonly message: Piece }];
  };
  const [{ message, finish_reason }] = choices;
  yield { ...message, finish_reason, timings };
}

/** The fields of a stream's chunk that are used. */
interface Chunk extends Pick<Piece, "timings"> {
  readonly choices?: readonly (Piece & { readonly delta: Piece })[];
  readonly error?: { readonly message: string };
}

/** Yields the pieces of a stream. Throws ExitError when the answer breaks off, with the server's message if any. */
async function* streamed({ body }: Response): AsyncGenerator<Piece> {
  const events = body?.pipeThrough(new TextDecoderStream()).pipeThrough(new EventSourceParserStream()) ?? [];
  for await (const { data } of events) {
    if (data === "[DONE]") return;
    const { choices, error, timings } = JSON.parse(data) as Chunk;
    if (error) throw new ExitError("failure", error.message);
    for (const { delta, finish_reason } of choices ?? []) yield { ...delta, finish_reason };
    if (timings) yield { timings };
  }
  throw new ExitError("failure", "The answer ended before it was complete.");
}
