// Random conversations that begin alike, run at once and are left in the middle; every answer is then compared with that
// of a server that computed nothing before.

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
 * Less room than the clients' conversations need together: cells are taken away and given to others. One thread: two that
 * wait for each other take minutes beside other tests.
 */
export const CROSS_TALK_FLAGS: readonly string[] = ["--model", MODEL, "--ctx", "1024", "--threads", "1"];

export interface CrossTalkOptions {
  readonly conversations: number;
  /** Conversations under way at once. */
  readonly clients: number;
  readonly seed: number;
  /** The first of them: the same number says the same again, as far as it gets the same answers. */
  readonly first?: number;
  /** Many begin with some hundred tokens: enough to be worth keeping outside of the KV cache. */
  readonly long?: boolean;
  /** Conversations take these adapters in turn. */
  readonly adapters?: readonly AdapterSet[];
}

export interface Exchange {
  readonly ask: Ask;
  readonly answer: LogprobAnswer;
}

export interface CrossTalkResult {
  /** Exchanges by how their answers compare. */
  readonly counts: Readonly<Record<Likeness, number>>;
  /** Answers that were left or cancelled. */
  readonly cut: number;
  /** Prompt tokens that the warm server took from its cache. */
  readonly cachedTokens: number;
  /** What differs: the number of the exchange, both texts, and where they part. */
  readonly differences: readonly string[];
}

const LONGEST_TURNS = 4;
const SYSTEMS: readonly [Message | undefined, ...(Message | undefined)[]] = [
  undefined,
  { role: "system", content: "You are a helpful assistant." },
  { role: "system", content: "You are a helpful assistant. You answer in short sentences and you never lie." },
];
/**
 * What svc-mini knows for sure. Where it makes something up, a batch of another shape alone moves the margin between two
 * tokens by 0.02 on average, now and then by 0.2, and a difference would mean nothing.
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

/** Runs all conversations, some at once; resolves with what was asked and answered. */
export async function converse(url: string, options: CrossTalkOptions): Promise<readonly Exchange[]> {
  const exchanges: Exchange[] = [];
  const { first = 0, long = false } = options;
  let next = first;
  const client = async () => {
    while (next < first + options.conversations) {
      // Its own generator: what others do must not change what it says.
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
 * The same on a server that keeps conversations on disk, which is stopped or killed and started again between rounds. Each
 * round repeats some conversations of the one before. Also resolves with the tokens that came from disk.
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
      const metrics = await (await fetch(`${server.url}/metrics`)).text();
      restoredTokens += metricValue(metrics, "svc_kv_disk_restored_tokens_total");
      // Killed, it may be in the middle of a file.
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
    // Now and then two that part at their last words run side by side.
    const other: Ask = { ...ask, messages: [...messages.slice(0, -1), question(random)] };
    const asks = random.chance(0.2) ? [ask, other] : [ask];
    const answers = await Promise.all(asks.map((one) => askWithLogprobs(url, one, manner)));
    exchanges.push(...asks.flatMap((one, index) => exchange(one, answers[index])));
    const [answer] = answers;
    // An answer that was cut is asked for again.
    if (!answer?.whole) continue;
    messages.push({ role: "assistant", content: answer.text }, question(random));
  }
  return exchanges;
}

/**
 * One of few, so that conversations share it; the longer ones begin with the shorter ones. It says nothing that svc-mini
 * could mix up with the question.
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

/** A server that answers one request at a time, each as if it were the first. */
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

  /** Throws when a server that just started claims to have computed something before. */
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
 * What parts two answers under a long system prompt may be a tie up to here, in log probability. Measured on a server that
 * reuses nothing, alone against in company: the shape of a batch moves the margin between the two best tokens by 0.04 in
 * the median and by 0.45 at most there (2,050 tokens of 893 answers), and svc-mini is less sure. Few may part at all, so
 * that this hides nothing.
 */
export const LONG_TIE = 0.5;
/** Share of answers that may. */
export const MOST_TIES = 0.03;

/** Asks the cold server everything again. */
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
