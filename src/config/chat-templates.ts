// Built-in chat templates, for models whose files have none or a wrong one. They are svc's own, written from the
// models' documentation, with the names of similar templates in llama.cpp's server (which lacks mistral and alpaca, but
// has many others). The begin-of-text token is added during tokenization.

import { UsageError } from "./parse.ts";
import { readText } from "./read-text.ts";
import { own } from "../domain/own.ts";

const GENERATION = "{% if add_generation_prompt %}";

/** Returns a template that puts every turn between the same texts. */
const turns = (before: string, after: string, prompt: string): string =>
  `{% for message in messages %}${before}{{ message.content }}${after}{% endfor %}${GENERATION}${prompt}{% endif %}`;

/** Returns a template with texts before and after a turn for each role. */
function byRole(
  system: readonly [string, string],
  user: readonly [string, string],
  assistant: readonly [string, string],
) {
  const turn = ([before, after]: readonly [string, string]) => `${before}{{ message.content }}${after}`;
  return (
    `{% for message in messages %}{% if message.role == 'system' %}${turn(system)}` +
    `{% elif message.role == 'assistant' %}${turn(assistant)}{% else %}${turn(user)}{% endif %}{% endfor %}` +
    `${GENERATION}${assistant[0].replace(/ +$/, "")}{% endif %}`
  );
}

/** Returns a template that puts a system turn into the user turn after it, for models without a system role. */
const intoUser = (
  user: readonly [string, string],
  assistant: readonly [string, string],
  system: readonly [string, string],
) =>
  `{% set ns = namespace(system='') %}{% for message in messages %}{% if message.role == 'system' %}` +
  `{% set ns.system = '${system[0]}' + message.content + '${system[1]}' %}{% elif message.role == 'assistant' %}` +
  `${assistant[0]}{{ message.content }}${assistant[1]}{% else %}${user[0]}{{ ns.system }}{% set ns.system = '' %}` +
  `{{ message.content }}${user[1]}{% endif %}{% endfor %}${GENERATION}${assistant[0].replace(/ +$/, "")}{% endif %}`;

const header = (role: string): string => `<|start_header_id|>${role}<|end_header_id|>\n\n`;

const TEMPLATES: Readonly<Record<string, string>> = {
  chatml: turns("<|im_start|>{{ message.role }}\n", "<|im_end|>\n", "<|im_start|>assistant\n"),
  llama2: intoUser(["[INST] ", " [/INST]"], [" ", " {{ eos_token }}"], ["<<SYS>>\\n", "\\n<</SYS>>\\n\\n"]),
  llama3: turns(header("{{ message.role }}"), "<|eot_id|>", header("assistant")),
  mistral: intoUser(["[INST] ", "[/INST]"], [" ", "{{ eos_token }}"], ["", "\\n\\n"]),
  gemma: intoUser(
    ["<start_of_turn>user\n", "<end_of_turn>\n"],
    ["<start_of_turn>model\n", "<end_of_turn>\n"],
    ["", "\\n\\n"],
  ),
  phi3: turns("<|{{ message.role }}|>\n", "<|end|>\n", "<|assistant|>\n"),
  phi4: turns("<|im_start|>{{ message.role }}<|im_sep|>", "<|im_end|>", "<|im_start|>assistant<|im_sep|>"),
  zephyr: turns("<|{{ message.role }}|>\n", "{{ eos_token }}\n", "<|assistant|>\n"),
  vicuna: byRole(["", "\n\n"], ["USER: ", "\n"], ["ASSISTANT: ", "{{ eos_token }}\n"]),
  alpaca: byRole(["", "\n\n"], ["### Instruction:\n", "\n\n"], ["### Response:\n", "\n\n"]),
};

/** Returns whether a text is a template itself, rather than a name or path. */
export const isTemplate = (text: string): boolean => /\{\{|\{%/.test(text);

/** Returns the Jinja source for a template name, a template or the path of a file. Throws UsageError. */
export function chatTemplateOf(given: string): string {
  if (isTemplate(given)) return given;
  const named = own(TEMPLATES, given);
  if (named !== undefined) return named;
  if (!/^\w[\w.-]*$/.test(given)) return readText(given, "chat template");
  const names = Object.keys(TEMPLATES).join(", ");
  throw new UsageError(
    `--chat-template ${given} is neither a file nor one of svc's templates: ${names}. For any other template, name a Jinja file.`,
  );
}
