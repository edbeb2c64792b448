// Rewords refusals of servers to say what helps; the servers' own messages may contain parts of the request.

import { SvcError } from "../domain/errors.ts";

interface Refusal {
  /** Matches the server's message. */
  readonly says: RegExp;
  readonly param: string;
  /** Continues the sentence "'param': the server of this model". */
  readonly why: string;
}

const REFUSALS: readonly Refusal[] = [
  {
    says: /--enable-auto-tool-choice|tool-call-parser/,
    param: "tools",
    why: "was started without tool calls (vLLM: --enable-auto-tool-choice and --tool-call-parser)",
  },
  { says: /requires --jinja/, param: "tools", why: "was started without chat templates that know tools (--jinja)" },
  {
    says: /logprobs.{0,80}greater than max allowed/i,
    param: "top_logprobs",
    why: "gives fewer (vLLM: --max-logprobs)",
  },
  {
    says: /priority scheduling is not enabled/i,
    param: "priority",
    why: "does not schedule by priority (vLLM: --scheduling-policy priority)",
  },
  {
    says: /reasoning_config is not configured/i,
    param: "thinking_token_budget",
    why: "was started without a limit of reasoning (vLLM: --reasoning-parser and --reasoning-config)",
  },
  {
    says: /not a multimodal model|At most 0 \w+\(s\) may be provided|does not support (image|audio) input|mmproj/i,
    param: "messages",
    why: "takes text alone",
  },
  {
    says: /chat template.{0,80}(must|required|not allowed)|no chat template/i,
    param: "messages",
    why: "has no chat template",
  },
  {
    says: /grammar|structured.output|xgrammar|guidance/i,
    param: "response_format",
    why: "cannot hold an answer to this form",
  },
];

/** Returns the refusal for a server's message; undefined if the message is unknown. */
export function knownRefusal(message: string): SvcError | undefined {
  const known = REFUSALS.find(({ says }) => says.test(message));
  if (!known) return undefined;
  const { param, why } = known;
  return new SvcError("invalid_value", `'${param}': the server of this model ${why}.`, { param });
}
