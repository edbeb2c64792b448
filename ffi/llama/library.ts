// The opened llama shim: what the bindings for text models and embedding models have in common.

import { NativeLibrary } from "../runtime/library.ts";
import {
  LLAMA_ERRORS,
  LlamaError,
  PLAIN_FORMAT,
  type AnswerFormat,
  type LlamaErrorCode,
  type PromptRequest,
  type PromptResult,
  type PromptThreads,
  type SamplerId,
  type Texts,
} from "./api.ts";
import { ABI_VERSION, symbols } from "./symbols.ts";

const shim = { name: "llama", abi: ABI_VERSION, symbols, errors: LLAMA_ERRORS, Failure: LlamaError };

export abstract class LlamaLibrary<Config>
  extends NativeLibrary<typeof symbols, LlamaErrorCode>
  implements PromptThreads
{
  private readonly promptTokens = new Int32Array(1);

  /** Also loads the compute backends in `directory`. Throws LlamaError. */
  constructor(directory: string) {
    super(directory, shim);
    this.check(this.native.svc_init(directory), "initialise");
  }

  loadStart(config: Config): void {
    const json = this.json(config);
    this.check(this.native.svc_load_start(json, json.length), "start loading");
  }

  submitPrompt({ sampler, ...request }: PromptRequest | Texts, owner = 0, client = ""): number {
    const json = this.json(request);
    const own = sampler && this.json(sampler);
    const constrained = Number(hasGrammar(request));
    return this.check(
      this.native.svc_prompt_submit(json, json.length, own ?? json, own?.length ?? 0, constrained, client, owner),
      "submit a prompt",
    );
  }

  cancelPrompt(job: number): void {
    this.native.svc_prompt_cancel(job);
  }

  takePrompt(timeoutMs: number): PromptResult | undefined {
    const job = this.native.svc_prompt_wait(timeoutMs, this.promptTokens);
    if (job === 0) return undefined;
    const [count = -1] = this.promptTokens;
    if (count < 0) return { job, ...this.failure() };
    // One more than needed: an empty array has no address.
    const tokens = new Int32Array(count + 1);
    const json = this.readJson(
      (out, size) => this.native.svc_prompt_take(job, tokens, count, out, size),
      "take a rendered prompt",
    );
    const { text, sampler, lengths, ...format } = json as Partial<AnswerFormat> & {
      text?: string;
      sampler?: SamplerId;
      lengths?: number[];
    };
    return {
      job,
      tokens: tokens.subarray(0, count),
      format: { ...PLAIN_FORMAT, ...format },
      ...(text !== undefined && { text }),
      ...(lengths && { lengths }),
      ...(sampler !== undefined && { sampler }),
    };
  }
}

/** Returns whether a grammar is made for the answer, which takes longer than the prompt's size suggests. */
const hasGrammar = (request: object): boolean =>
  "schema" in request ||
  "grammar" in request ||
  ("tools" in request && Array.isArray(request.tools) && request.tools.length > 0);
