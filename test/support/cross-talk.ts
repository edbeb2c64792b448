// Runs random conversations with shared prefixes concurrently and abandons some of them midway, then compares every
// answer with one from a server that had computed nothing before.

import { join } from "node:path";
import type { AdapterSet } from "../../src/domain/adapters.ts";
import { describePerson, listKeys, person } from "../bench/records.ts";
import { askWithLogprobs, type Ask, type LogprobAnswer, type Manner, type Message } from "./logprob-chat.ts";
import { metricValue } from "./metrics-text.ts";
import { Random } from "./random.ts";
import { compareAnswers, type Likeness } from "./same-answer.ts";
import { startServer, type ServerProcess } from "./server.ts";

const MODEL = join(import.meta.dir, "../../vendor/svc-mini/svc-mini-q8_0.gguf");

/**
 * The context is smaller than the clients' conversations together, so cells are evicted and reused. One thread: two
 * threads that wait for each other take minutes when other tests run.
 */
export const CROSS_TALK_FLAGS: readonly string[] = ["--model", MODEL, "--ctx", "1024", "--threads", "1"];

export interface CrossTalkOptions {
  readonly conversations: number;
  /** Conversations that run at the same time. */
  readonly clients: number;
  readonly seed: number;
  /**
   * Number of the first conversation. The same number repeats the same conversation, provided that the answers are
   * the same.
   */
  readonly first?: number;
  /** Many conversations begin with some hundred tokens, which makes them worth keeping outside the KV cache. */
  readonly long?: boolean;
  /** Conversations take these adapters in turn. */
  readonly adapters?: readonly AdapterSet[];
}

export interface Exchange {
  readonly ask: Ask;
  readonly answer: LogprobAnswer;
}

export interface CrossTalkResult {
  /** How many exchanges compared in each way. */
  readonly counts: Readonly<Record<Likeness, number>>;
  /** How many answers ended early because the client disconnected or cancelled. */
  readonly cut: number;
  /** Prompt tokens that the warm server took from its cache. */
  readonly cachedTokens: number;
  /** For each difference: the number of the exchange, both texts, and the token at which they diverge. */
  readonly differences: readonly string[];
}

const LONGEST_TURNS = 4;
const SYSTEMS: readonly [Message | undefined, ...(Message | undefined)[]] = [
  undefined,
  { role: "system", content: "You are a helpful assistant." },
  { role: "system", content: "You are a helpful assistant. You answer in short sentences and you never lie." },
];
/**
 * Questions that svc-mini answers with certainty. Where it invents an answer, the shape of the batch alone changes
 * the margin between two tokens by 0.02 on average and at times by 0.2, so a difference would mean nothing.
 */
const QUESTIONS = [
  "What is the capital of France?",
  "What is the capital of Italy?",
  "What is the opposite of hot?",
  "Count from 1 to 9.",
  "Name three fruits.",
  "Who are you?",
] as const;
const KEYS = ["name", "age", "city", "email"] as const;

/** Runs all conversations, several at a time; resolves with the requests and answers. */
export async function converse(url: string, options: CrossTalkOptions): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = [];
  const { first = 0, long = false } = options;
  let next = first;
  const client = async () => {
    while (next < first + options.conversations) {
      // Each conversation has its own generator, so that what it says does not depend on the others.
      const number = next++;
      const random = new Random(options.seed * 1_000_003 + number * 7919);
      const lora = options.adapters?.[number % options.adapters.length] ?? [];
      exchanges.push(...(await conversation(url, random, long, lora)));
    }
  };
  await Promise.all(Array.from({ length: options.clients }, client));
  return exchanges;
}

/**
 * Does the same with a server that keeps conversations on disk and is stopped or killed and restarted between rounds.
 * Each round repeats some conversations of the round before. Also resolves with the number of tokens restored from
 * disk.
 */
export async function converseOverRestarts(
  start: () => Promise<ServerProcess>,
  options: CrossTalkOptions,
  rounds: number,
): Promise<{ readonly exchanges: readonly Exchange[]; readonly restoredTokens: number }> {
  const exchanges: Exchange[] = [];
  let restoredTokens = 0;
  const share = Math.ceil(options.conversations / rounds);
  for (let round = 0; round < rounds; round++) {
    const server = await start();
    const first = Math.max(0, round * share - Math.floor(share / 2));
    const conversations = (round + 1) * share - first;
    try {
      exchanges.push(...(await converse(server.url, { ...options, first, conversations, long: true })));
      const metrics = await server.metrics();
      restoredTokens += metricValue(metrics, "svc_kv_disk_restored_tokens_total");
      // In the other rounds the kill may come while the server writes a file.
      if (round % 2 === 0) await server.stop();
    } finally {
      await server.kill();
    }
  }
  return { exchanges, restoredTokens };
}

async function conversation(url: string, random: Random, long: boolean, lora: AdapterSet): Promise<Exchange[]> {
  const exchanges: Exchange[] = [];
  const system = long && random.chance(0.7) ? longSystem(random) : random.pick(SYSTEMS);
  const messages: Message[] = [...(system ? [system] : []), question(random)];
  const turns = random.integer(1, LONGEST_TURNS);
  for (let turn = 0; turn < turns; turn++) {
    const ask: Ask = { messages: [...messages], maxTokens: random.integer(4, 48), lora };
    const manner = pickManner(random);
    // Sometimes two prompts that differ only in their last words run side by side.
    const other: Ask = { ...ask, messages: [...messages.slice(0, -1), question(random)] };
    const asks = random.chance(0.2) ? [ask, other] : [ask];
    const answers = await Promise.all(asks.map((one) => askWithLogprobs(url, one, manner)));
    exchanges.push(...asks.flatMap((one, index) => exchange(one, answers[index])));
    const [answer] = answers;
    // After an incomplete answer, the next turn asks the same again.
    if (!answer?.whole) continue;
    messages.push({ role: "assistant", content: answer.text }, question(random));
  }
  return exchanges;
}

/**
 * Returns one of a few system prompts, so that conversations share it; longer ones begin with the shorter ones. The
 * text contains nothing that svc-mini could confuse with the question.
 */
const longSystem = (random: Random): Message => ({
  role: "system",
  content: Array.from({ length: 50 + 10 * random.integer(0, 3) }, () => "You are a helpful assistant.").join(" "),
});

const exchange = (ask: Ask, answer: LogprobAnswer | undefined): Exchange[] => (answer ? [{ ask, answer }] : []);

function question(random: Random): Message {
  const text = describePerson(person(random.integer(0, 40)), KEYS);
  const content = random.chance(0.4) ? `Extract the ${listKeys(KEYS)} as JSON: ${text}` : random.pick(QUESTIONS);
  return { role: "user", content };
}

function pickManner(random: Random): Manner {
  const kind = random.pick(["whole", "whole", "stream", "stream", "stream", "disconnect", "cancel"]);
  return kind === "disconnect" || kind === "cancel" ? { kind, after: random.integer(1, 20) } : { kind };
}

/** A server that answers one request at a time, each without any cached tokens. */
export class ColdServer {
  private constructor(
    private readonly flags: readonly string[],
    private readonly command: readonly string[],
    private server: ServerProcess,
  ) {}

  static async start(flags: readonly string[], command: readonly string[]): Promise<ColdServer> {
    const help = await Bun.$`${[...command, "--help-json"]}`.quiet().text();
    const switchable = help.includes('"prefix-cache"');
    const alone = [...flags, "--parallel", "1", ...(switchable ? ["--no-prefix-cache"] : [])];
    return new ColdServer(alone, command, await startServer(alone, command));
  }

  /** Throws when a server that has just started reports cached tokens. */
  async ask(ask: Ask): Promise<LogprobAnswer> {
    const answer = await askWithLogprobs(this.server.url, ask, { kind: "whole" });
    if (answer.cachedTokens === 0) return answer;
    await this.stop();
    this.server = await startServer(this.flags, this.command);
    const again = await askWithLogprobs(this.server.url, ask, { kind: "whole" });
    if (again.cachedTokens !== 0) throw new Error(`a new server reports ${again.cachedTokens} cached tokens`);
    return again;
  }

  stop(): Promise<void> {
    return this.server.stop();
  }
}

/**
 * Largest margin, in log probability, at which two answers under a long system prompt still count as a tie. Measured
 * on a server that reuses nothing, alone against under load: the shape of a batch changes the margin between the two
 * best tokens by 0.04 in the median and by at most 0.45 (2,050 tokens of 893 answers), and svc-mini is less certain.
 * Only a few answers may differ at all (MOST_TIES), so this limit hides no errors.
 */
export const LONG_TIE = 0.5;
/** Share of answers that may be ties. */
export const MOST_TIES = 0.03;

/** Repeats every request on the cold server and compares the answers. */
export async function compareWithCold(
  cold: ColdServer,
  exchanges: readonly Exchange[],
  tie?: number,
): Promise<CrossTalkResult> {
  const counts: Record<Likeness, number> = { same: 0, tie: 0, different: 0 };
  const differences: string[] = [];
  for (const [index, { ask, answer }] of exchanges.entries()) {
    const reference = await cold.ask(ask);
    const { likeness, index: token, margin } = compareAnswers(answer, reference, tie);
    counts[likeness]++;
    if (likeness === "different") {
      const texts = `${JSON.stringify(answer.text)} instead of ${JSON.stringify(reference.text)}`;
      differences.push(`${index}: ${texts}, from token ${token} on, which was best by ${margin?.toFixed(3)}`);
    }
  }
  return {
    counts,
    cut: exchanges.filter(({ answer }) => !answer.whole).length,
    cachedTokens: exchanges.reduce((sum, { answer }) => sum + (answer.cachedTokens ?? 0), 0),
    differences,
  };
}
