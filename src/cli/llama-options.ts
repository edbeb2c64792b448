// Options by the names that llama.cpp's server has for them, so that a command line of it starts svc.

/** Short names of several letters, and the long names that they mean here. */
const SHORT: Readonly<Record<string, string>> = {
  "-ngl": "gpu-layers",
  "-np": "parallel",
  "-fa": "flash-attention",
  "-sm": "split-mode",
  "-mg": "main-gpu",
  "-ts": "tensor-split",
  "-ub": "micro-batch",
  "-ctk": "kv-type",
  "-md": "draft",
  "-mm": "mmproj",
  "-cram": "cache-ram",
};

/** Options that have nothing to do here, and why. `true`: with a value. */
const WITHOUT_EFFECT: Readonly<Record<string, readonly [why: string, hasValue?: true]>> = {
  "--jinja": ["chat templates are always rendered by Jinja"],
  "--metrics": ["GET /metrics is always there"],
  "--slots": ["GET /slots is always there"],
  "--props": ["GET /props is always there"],
  "--cont-batching": ["requests are always batched"],
  "-cb": ["requests are always batched"],
  "--kv-unified": ["--kv-mode says how requests share the context"],
  "-kvu": ["--kv-mode says how requests share the context"],
  "--no-webui": ["the web page is part of the server"],
  "--no-ui": ["the web page is part of the server"],
  "--embedding": ["/v1/embeddings has a model of its own: --embedding-model"],
  "--embeddings": ["/v1/embeddings has a model of its own: --embedding-model"],
  "--reranking": ["/v1/rerank has a model of its own: --rerank-model"],
  "--threads-http": ["requests are not read by threads", true],
  "--cache-reuse": ["prefixes are found by themselves", true],
  "--threads-batch": ["prompts have the threads of --threads", true],
  "-tb": ["prompts have the threads of --threads", true],
  "-ctv": ["--kv-type is the type of keys and values", true],
  "--cache-type-v": ["--kv-type is the type of keys and values", true],
};

/** A value of a switch that may stand alone. */
const IS_VALUE: Readonly<Record<string, RegExp>> = {
  "-fa": /^(on|off|auto|1|0|true|false)$/,
  "--flash-attn": /^(on|off|auto|1|0|true|false)$/,
};
const ON_OFF: Readonly<Record<string, string>> = { "1": "on", true: "on", "0": "off", false: "off" };

interface Translated {
  readonly args: readonly string[];
  /** What is to be said about options that have no effect. */
  readonly notes: readonly string[];
}

/** The arguments with svc's names; what follows `--` stays as it is. */
export function translateArguments(args: readonly string[]): Translated {
  const translated: string[] = [];
  const notes: string[] = [];
  const queue = [...args];
  for (let argument = queue.shift(); argument !== undefined; argument = queue.shift()) {
    if (argument === "--") return { args: [...translated, argument, ...queue], notes };
    const [, name = argument, inline] = /^(-[^=]+)=(.*)$/s.exec(argument) ?? [];
    const idle = Object.hasOwn(WITHOUT_EFFECT, name) ? WITHOUT_EFFECT[name] : undefined;
    if (idle) {
      const [why, hasValue] = idle;
      if (hasValue && inline === undefined) queue.shift();
      notes.push(`${name} has no effect: ${why}.`);
      continue;
    }
    const long = Object.hasOwn(SHORT, name) ? `--${SHORT[name]}` : name;
    translated.push(inline === undefined ? long : `${long}=${inline}`);
    const value = Object.hasOwn(IS_VALUE, name) ? IS_VALUE[name] : undefined;
    if (!value || inline !== undefined) continue;
    const next = value.test(queue[0] ?? "") ? (queue.shift() ?? "on") : "on";
    translated.push(ON_OFF[next] ?? next);
  }
  return { args: translated, notes };
}
