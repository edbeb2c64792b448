// Parts shared by the seeds of several APIs. Texts contain a mark that no error message may repeat.

/** Text that only the client sends; not an identifier, because errors may repeat those as names of fields. */
export const MARK = "Qx7 mark";

export const PIXEL = "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5ErkJggg==";
export const schema = {
  type: "object",
  properties: {
    [`city ${MARK}`]: { type: "string", pattern: "^[a-z]+$" },
    n: { type: ["integer", "null"], minimum: 0 },
  },
  required: ["n"],
  additionalProperties: false,
  $defs: { one: { enum: ["a", MARK] } },
  anyOf: [{ $ref: "#/$defs/one" }, { type: "object" }],
};
export const name = `tool_${MARK}`;
export const sampling = {
  lora: [],
  temperature: 0.5,
  top_p: 0.9,
  top_k: 20,
  min_p: 0.05,
  typical_p: 1,
  top_n_sigma: -1,
  xtc_probability: 0.1,
  xtc_threshold: 0.1,
  dynatemp_range: 0,
  dynatemp_exponent: 1,
  repeat_penalty: 1.1,
  repetition_penalty: 1.1,
  repeat_last_n: 64,
  presence_penalty: 0.1,
  frequency_penalty: 0.1,
  dry_multiplier: 0.5,
  dry_base: 1.75,
  dry_allowed_length: 2,
  dry_penalty_last_n: -1,
  dry_sequence_breakers: ["\n", MARK],
  mirostat: 0,
  mirostat_tau: 5,
  mirostat_eta: 0.1,
  logit_bias: { "5": 1, "6": -100 },
  seed: 7,
  ignore_eos: false,
  min_tokens: 1,
};

export const user = { role: "user", content: `hi ${MARK}` };
