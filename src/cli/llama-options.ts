// Translates the option names of llama.cpp's server, so that a command line for that server starts svc.

import type { Option } from "../config/option.ts";
import { options } from "../config/options.ts";
import { UsageError } from "../config/parse.ts";
import { own } from "../domain/own.ts";

/** Returns a table with an entry for each name in keys of several names. */
const byName = <Value>(table: Readonly<Record<string, Value>>): Readonly<Record<string, Value>> =>
  Object.fromEntries(
    Object.entries(table).flatMap(([names, value]) => names.split(" ").map((name) => [name, value] as const)),
  );

/** llama.cpp's names that are not aliases in svc's option table, with svc's name for each. */
const NAMES: Readonly<Record<string, string>> = {
  "-ngl": "--gpu-layers",
  "-np": "--parallel",
  "-fa": "--flash-attention",
  "-sm": "--split-mode",
  "-mg": "--main-gpu",
  "-ts": "--tensor-split",
  "-ub": "--micro-batch",
  "-ctk": "--kv-type",
  "-md": "--draft",
  "-mm": "--mmproj",
  "-cram": "--cache-ram",
  "-j": "--guided-json",
  "-rea": "--think",
  "--spec-draft-model": "--draft",
  "--spec-draft-n-max": "--draft-max",
  "--spec-draft-p-min": "--draft-p-min",
  "--json-schema": "--guided-json",
  "--reasoning": "--think",
  "--lora-scaled": "--lora",
  "--media-path": "--media-root",
  "--ssl-cert-file": "--tls-cert",
  "--ssl-key-file": "--tls-key",
  "--sse-ping-interval": "--heartbeat",
  "--cache-prompt": "--prefix-cache",
  "--no-cache-prompt": "--no-prefix-cache",
};

/** Options that have no effect in svc, and why. `true`: the option has a value. */
const WITHOUT_EFFECT = byName<readonly [why: string, hasValue?: true]>({
  "--jinja --no-jinja": ["chat templates are always rendered by Jinja"],
  "--metrics": ["GET /metrics is always available"],
  "--slots --no-slots": ["GET /slots is always available"],
  "--props": ["GET /props is always available"],
  "--cont-batching --no-cont-batching -cb -nocb": ["requests are always batched"],
  "--kv-unified --no-kv-unified -kvu -no-kvu": ["--kv-mode sets how requests share the context"],
  "--no-webui --no-ui": ["the web page is part of the server"],
  "--embedding --embeddings": ["/v1/embeddings has a model of its own: --embedding-model"],
  "--rerank --reranking": ["/v1/rerank has a model of its own: --rerank-model"],
  "--threads-http": ["svc has no threads for HTTP", true],
  "--sleep-idle-seconds": ["the model stays loaded", true],
  "-lv": ["--log-level sets how much is logged", true],
  "-to": ["answers have no time limit", true],
  "-fit --fit": ["without --ctx, the context is as large as memory allows", true],
  "--cache-reuse": ["cached prefixes are always reused", true],
  "--threads-batch -tb": ["--threads also sets the threads for prompts", true],
  "-ctv --cache-type-v": ["--kv-type sets the type of both keys and values", true],
});

/** Options that svc lacks, and what to use in their place. */
const INSTEAD = byName<string>({
  "-hf -hfr -hff -mu -dr --hf-repo --hf-file --model-url":
    "run svc pull OWNER/REPOSITORY, then svc --model OWNER/REPOSITORY",
  "-jf --json-schema-file": "--guided-json takes the schema itself",
  "-r": "--stop takes stop sequences",
});

/** llama.cpp's other short names of several letters, refused since svc would read them as a letter and its value. */
const OTHERS = new Set(
  `-Cb -Cbd -Cd -Cr -Crb -Crbd -Crd -ag -bs -cl -cmoe -cmoed -cms -ctkd -ctvd -ctxcp -dev -devd -dt -fitc -fitt -hfd -hfrd
-hft -kvo -lcd -lcs -lm -lzm -mmdev -mmu -ncffn -ncmoe -ncmoed -ngld -nkvo -no-ag -nr -ot -otd -sp -sps -tbd -td`.split(
    /\s+/,
  ),
);

/** Values of options whose value may be absent. */
const IS_VALUE = byName<RegExp>({
  "-fa --flash-attn": /^(on|off|auto|1|0|true|false)$/,
  "-rea --reasoning": /^(on|off|auto)$/,
});
const ON_OFF: Readonly<Record<string, string>> = { "1": "on", true: "on", "0": "off", false: "off" };

/** Values that let the server choose, by option name. */
const BY_ITSELF: Readonly<Record<string, RegExp>> = {
  ctx: /^0$/,
  "max-tokens": /^-[12]$/,
  "reasoning-budget": /^-1$/,
  seed: /^-1$/,
  threads: /^(-1|0)$/,
  parallel: /^-1$/,
  "cache-ram": /^-1$/,
  heartbeat: /^-1$/,
  "gpu-layers": /^(auto|all)$/,
  think: /^auto$/,
};

/** Options with another meaning in llama.cpp, recognized by a value of that meaning. */
const ELSEWHERE: Readonly<Record<string, readonly [value: RegExp, says: string]>> = {
  "-t": [/^([2-9]|\d\d+)$/, "-t is the temperature; threads are --threads."],
  "-s": [/^\d+$/, "-s is a prompt to answer once; a seed is --seed."],
  "--lora": [/^[^=]*(?<!:-?\d+(\.\d+)?)$/, "--lora without :SCALE applies only to requests that name the adapter."],
};

/** In translated arguments, the value that means svc's default: no argument of a process has this character. */
export const DEFAULT = "\0";

interface Translated {
  readonly args: readonly string[];
  /** Notes on options that have no effect, or a different effect than in llama.cpp. */
  readonly notes: readonly string[];
}

/** Returns the arguments with svc's names, unchanged after `--`. Throws UsageError for options that svc lacks. */
export function translateArguments(args: readonly string[]): Translated {
  const translated: string[] = [];
  const notes: string[] = [];
  const queue = [...args];
  for (let argument = queue.shift(); argument !== undefined; argument = queue.shift()) {
    if (argument === "--") return { args: [...translated, argument, ...queue], notes };
    const [, name = argument, inline] = /^(-[^=]+)=(.*)$/s.exec(argument) ?? [];
    refuse(name);
    const idle = own(WITHOUT_EFFECT, name);
    if (idle) {
      const [why, hasValue] = idle;
      if (hasValue && inline === undefined) queue.shift();
      notes.push(`${name} has no effect: ${why}.`);
      continue;
    }
    const long = own(NAMES, name) ?? name;
    const given = inline ?? queue[0] ?? "";
    const option = optionOf(long);
    if (option && own(BY_ITSELF, option.name)?.test(given)) {
      if (inline === undefined) queue.shift();
      translated.push(`--${option.name}=${DEFAULT}`);
      notes.push(`${name} ${given} means svc's default: ${option.absent ?? option.default}.`);
      continue;
    }
    const [looks, says = ""] = own(ELSEWHERE, name) ?? [];
    if (looks?.test(given)) {
      if (option?.read(given) === undefined) throw new UsageError(says);
      if (!notes.includes(says)) notes.push(says);
    }
    const isValue = inline === undefined ? own(IS_VALUE, name) : undefined;
    if (isValue) {
      const next = isValue.test(given) ? (queue.shift() ?? "on") : "on";
      translated.push(`${long}=${own(ON_OFF, next) ?? next}`);
    } else translated.push(inline === undefined ? long : `${long}=${inline}`);
  }
  return { args: translated, notes };
}

function refuse(name: string): void {
  const instead = own(INSTEAD, name);
  if (instead !== undefined) throw new UsageError(`There is no ${name}: ${instead}.`);
  if (OTHERS.has(name))
    throw new UsageError(`There is no ${name}: svc has no equivalent of this option of llama.cpp's server.`);
}

/** Returns the option with this long name or letter. */
function optionOf(argument: string): Option | undefined {
  const name = /^(?:-(\w)|--([\w-]{2,}))$/.exec(argument)?.slice(1).join("");
  return options.find((option) => option.name === name || option.aliases?.some((alias) => alias === name));
}
