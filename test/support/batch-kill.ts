// Runs a batch on a server that is killed repeatedly. The result must be the same as without kills.

import { readdirSync } from "node:fs";
import { join } from "node:path";
import { post } from "./post.ts";
import { startServer, type TestServer } from "./server.ts";

/** What the lines of a batch request. */
export interface KillTask {
  readonly endpoint: string;
  readonly body: (index: number) => object;
  /** A request body that the endpoint refuses. */
  readonly refused: object;
  /** Whether the body of an answer contains what its line requested. */
  readonly isAnswer: (body: AnswerBody) => boolean;
}

interface AnswerBody {
  readonly choices?: readonly { readonly message: { readonly content: unknown } }[];
  readonly data?: readonly { readonly embedding: readonly number[] }[];
  readonly text?: string;
}

export const chats: KillTask = {
  endpoint: "/v1/chat/completions",
  body: (index) => ({
    messages: [{ role: "user", content: `What is ${index} + ${index % 7}?` }],
    max_tokens: 12,
  }),
  refused: { messages: [] },
  isAnswer: ({ choices }) => typeof choices?.[0]?.message.content === "string",
};

export const vectors: KillTask = {
  endpoint: "/v1/embeddings",
  body: (index) => ({ input: `What is ${index} + ${index % 7}?` }),
  refused: { input: "" },
  isAnswer: ({ data }) => (data?.[0]?.embedding.length ?? 0) > 0,
};

/** Transcriptions, all of the same recording. */
export const recordings = (data: string): KillTask => ({
  endpoint: "/v1/audio/transcriptions",
  body: () => ({ data, language: "en" }),
  refused: { data: "?" },
  isAnswer: ({ text }) => text !== undefined && text !== "",
});

export interface KillOptions {
  readonly lines: number;
  /** Defaults to chats. */
  readonly task?: KillTask;
  readonly kills: number;
  /** Returns numbers from 0 to 1, which decide when each kill happens. */
  readonly random: () => number;
  readonly dataDir: string;
  readonly command?: readonly string[];
  readonly flags?: readonly string[];
  readonly log?: (text: string) => void;
}

export interface KillOutcome {
  /** How many kills happened before the batch was complete. */
  readonly kills: number;
  /** Descriptions of what is wrong; empty when nothing is. */
  readonly faults: readonly string[];
}

export interface Batch {
  readonly id: string;
  readonly status: string;
  readonly input_file_id: string;
  readonly output_file_id: string | null;
  readonly request_counts: { readonly total: number; readonly completed: number; readonly failed: number };
}

interface OutputLine {
  readonly custom_id: string;
  readonly response: {
    readonly status_code: number;
    readonly body: AnswerBody;
  };
}

/** Longest time between a start and a kill, whatever the number of lines. */
const LONGEST_LIFE_MS = 3000;
const PATIENCE_MS = 600_000;

/** Returns a line of the batch. The endpoint refuses every tenth line: a failure is an answer as well. */
export const inputLine = (index: number, { endpoint, body, refused }: KillTask = chats) => ({
  custom_id: `line-${index}`,
  method: "POST",
  url: endpoint,
  body: index % 10 === 9 ? refused : body(index),
});

/** Runs a batch through the kills, then checks its output, its counts and the files on disk. */
export async function killBatch(options: KillOptions): Promise<KillOutcome> {
  const { lines, kills, random, dataDir, task = chats, log = () => {} } = options;
  const usual = ["--data-dir", dataDir, "--ctx", "4096", "--threads", "1", "--batch-endpoints"];
  const flags = [...usual, ...(options.flags ?? [])];
  const start = () => startServer(flags, options.command);
  let server = await start();
  const content = Array.from({ length: lines }, (_, index) => `${JSON.stringify(inputLine(index, task))}\n`).join("");
  const { id } = await createBatch(server, content, task.endpoint);
  let done = 0;
  for (; done < kills; done++) {
    const batch = await getBatch(server, id);
    if (batch.status === "completed") break;
    await Bun.sleep(random() * LONGEST_LIFE_MS);
    await server.kill();
    log(`killed ${done + 1} times: ${JSON.stringify(batch.request_counts)} ${batch.status}`);
    server = await start();
  }
  const deadline = performance.now() + PATIENCE_MS;
  let batch = await getBatch(server, id);
  while (batch.status !== "completed") {
    if (performance.now() > deadline) return { kills: done, faults: [`the batch is still ${batch.status}`] };
    await Bun.sleep(50);
    batch = await getBatch(server, id);
  }
  const output = await (await fetch(`${server.url}/v1/files/${batch.output_file_id}/content`)).text();
  await server.stop();
  const faults = [...outputFaults(output, lines, task), ...countFaults(batch, lines), ...orphans(dataDir)];
  return { kills: done, faults };
}

export async function createBatch(
  { url }: Pick<TestServer, "url">,
  content: string,
  endpoint = chats.endpoint,
): Promise<Batch> {
  const upload = await fetch(`${url}/v1/files`, { method: "POST", body: content });
  const { id: input_file_id } = (await upload.json()) as { id: string };
  const response = await post(`${url}/v1/batches`, { input_file_id, endpoint });
  return (await response.json()) as Batch;
}

export const getBatch = async ({ url }: Pick<TestServer, "url">, id: string): Promise<Batch> =>
  (await (await fetch(`${url}/v1/batches/${id}`)).json()) as Batch;

/**
 * Reports lines that are missing, repeated, or not JSON of the expected layout, and accepted lines without the
 * requested answer.
 */
function outputFaults(output: string, lines: number, { isAnswer }: KillTask): string[] {
  return lineFaults(output, lines, (line, text) => {
    const refused = Number(line.custom_id.slice("line-".length)) % 10 === 9;
    if (line.response.status_code !== (refused ? 400 : 200)) return `${line.custom_id}: ${text.slice(0, 200)}`;
    return refused || isAnswer(line.response.body) ? undefined : `${line.custom_id} has no answer`;
  });
}

/** Reports lines that are missing, repeated or not JSON, and what `judge` says is wrong with a line. */
export function lineFaults(
  output: string,
  lines: number,
  judge: (line: OutputLine, text: string) => string | undefined = () => undefined,
): string[] {
  const faults: string[] = [];
  const seen = new Map<string, number>();
  const texts = output.split("\n");
  if (texts.pop() !== "") faults.push("the output does not end with a line's end");
  for (const text of texts) {
    try {
      const line = JSON.parse(text) as OutputLine;
      seen.set(line.custom_id, (seen.get(line.custom_id) ?? 0) + 1);
      const fault = judge(line, text);
      if (fault) faults.push(fault);
    } catch (error) {
      faults.push(`a line is not what it should be (${String(error)}): ${text.slice(0, 80)}`);
    }
  }
  for (let index = 0; index < lines; index++) {
    const times = seen.get(`line-${index}`) ?? 0;
    if (times !== 1) faults.push(`line-${index} is there ${times} times`);
  }
  if (texts.length !== lines) faults.push(`${texts.length} lines instead of ${lines}`);
  return faults;
}

function countFaults({ request_counts }: Batch, total: number): string[] {
  const failed = Math.floor(total / 10);
  const expected = { total, completed: total - failed, failed };
  return Bun.deepEquals(request_counts, expected) ? [] : [`counts are ${JSON.stringify(request_counts)}`];
}

/** Reports files that nothing refers to any more. */
function orphans(dataDir: string): string[] {
  const left = readdirSync(join(dataDir, "batches")).map((name) => `batches/${name} is left behind`);
  const files = readdirSync(join(dataDir, "files"));
  return files.length === 2 ? left : [...left, `files: ${files.join(", ")} instead of an input and an output`];
}
