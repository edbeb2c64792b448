// Collects the events of one generation into whole answers.

import { SvcError } from "../../domain/errors.ts";
import type { FinishEvent, GenerateEvent } from "../../domain/generate.ts";
import type { TokenLogprob } from "../../domain/usage.ts";

/** Returns the error for a generation that ended without its last event. */
export const withoutFinish = () => new SvcError("internal_error", "The generation ended without a finish.");

interface TextPart {
  readonly type: "text" | "reasoning";
  text: string;
}

interface CallPart {
  readonly type: "tool_call";
  readonly id: string;
  readonly name: string;
  /** JSON text. */
  arguments: string;
}

/** Encodes the log probabilities of a token as they arrive: there may be millions, too many to keep in two forms. */
type Encode<Logprob> = (token: TokenLogprob) => Logprob;
export const asIs = (token: TokenLogprob) => token;

/** One answer, assembled as its events arrive. */
export class CollectedAnswer<Logprob = TokenLogprob> {
  /** The parts in order of generation; consecutive text is one part. */
  readonly parts: (TextPart | CallPart)[] = [];
  readonly calls: CallPart[] = [];
  readonly logprobs: Logprob[] = [];
  private ended: FinishEvent | undefined;

  /** `withReasoning`: whether reasoning is collected. */
  constructor(
    private readonly encode: Encode<Logprob>,
    private readonly withReasoning = true,
  ) {}

  add(event: GenerateEvent): void {
    switch (event.type) {
      case "text":
        for (const token of event.logprobs ?? []) this.logprobs.push(this.encode(token));
        return this.append(event.type, event.text);
      case "reasoning":
        if (this.withReasoning) this.append(event.type, event.text);
        return;
      case "tool_call": {
        const { type, id, name } = event;
        this.parts.push((this.calls[event.index] = { type, id, name, arguments: "" }));
        return;
      }
      case "tool_arguments": {
        const call = this.calls[event.index];
        if (call) call.arguments += event.text;
        return;
      }
      case "restarted":
        for (const list of [this.parts, this.calls, this.logprobs]) list.length = 0;
        return;
      case "finish":
        this.ended = event;
    }
  }

  get text(): string {
    return this.joined("text");
  }

  get reasoning(): string {
    return this.joined("reasoning");
  }

  /** The finish event. Throws SvcError `internal_error` when the generation ended without it. */
  get finish(): FinishEvent {
    if (!this.ended) throw withoutFinish();
    return this.ended;
  }

  private append(type: TextPart["type"], text: string): void {
    const last = this.parts.at(-1);
    if (last?.type === type) last.text += text;
    else if (text !== "") this.parts.push({ type, text });
  }

  private joined(type: TextPart["type"]): string {
    return this.parts.map((part) => (part.type === type ? part.text : "")).join("");
  }
}

/** Collects one answer. Throws what the generation throws. */
export async function collect<Logprob>(
  events: AsyncIterable<GenerateEvent>,
  answer: CollectedAnswer<Logprob>,
): Promise<CollectedAnswer<Logprob>> {
  for await (const event of events) answer.add(event);
  return answer;
}

/** Collects `count` answers of one generation. Throws what the generation throws. */
export async function collectAll<Logprob>(
  events: AsyncIterable<GenerateEvent>,
  count: number,
  encode: Encode<Logprob>,
): Promise<readonly CollectedAnswer<Logprob>[]> {
  const answers = Array.from({ length: count }, () => new CollectedAnswer(encode));
  for await (const event of events) if (event.type !== "accepted") answers[event.choice ?? 0]?.add(event);
  return answers;
}
