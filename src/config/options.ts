// Every option of the program in one table. Parsing, help, environment variables, the config file and the README's
// table are all made from it.

export type OptionValue = string | number | boolean | readonly string[] | Readonly<Record<string, unknown>>;

interface OptionBase {
  /** Long name: `--name`. Also the key in the config file; `SVC_NAME` in the environment. */
  readonly name: string;
  /** Other spellings: one letter or a long name. */
  readonly aliases?: readonly string[];
  readonly group: OptionGroup;
  readonly help: string;
}

/** `number`: with its limits, both inclusive. `list`: repeatable on the command line, comma-separated elsewhere. */
export type Option = OptionBase &
  (
    | { readonly type: "string" | "path"; readonly default?: string; readonly placeholder?: string }
    | { readonly type: "choice"; readonly choices: readonly string[]; readonly default: string }
    | {
        readonly type: "integer" | "number";
        readonly minimum: number;
        readonly maximum: number;
        readonly default?: number;
        /** What an absent value means, for the help. */
        readonly absent?: string;
      }
    | { readonly type: "boolean"; readonly default: boolean }
    | { readonly type: "list"; readonly placeholder: string }
    | { readonly type: "json" }
  );

export const optionGroups = ["Model", "Server", "Generation", "Engine", "One-shot", "Output and files"] as const;
export type OptionGroup = (typeof optionGroups)[number];

const DAY_MS = 86_400_000;

export const options: readonly Option[] = [
  {
    name: "model",
    aliases: ["m"],
    group: "Model",
    type: "path",
    placeholder: "FILE",
    help: "GGUF file to serve. Without it the embedded demonstration model svc-mini answers.",
  },
  {
    name: "alias",
    group: "Model",
    type: "string",
    placeholder: "NAME",
    help: "Model name that clients see; default: the file's name.",
  },
  {
    name: "ctx",
    aliases: ["c"],
    group: "Model",
    type: "integer",
    minimum: 256,
    maximum: 16_777_216,
    absent: "what the model was trained for, as far as memory allows",
    help: "Tokens in the KV cache, shared by all requests.",
  },

  {
    name: "host",
    aliases: ["H", "hostname"],
    group: "Server",
    type: "string",
    default: "127.0.0.1",
    placeholder: "ADDRESS",
    help: "Address to listen on. Anything but a loopback address exposes the server, which asks nobody for a key.",
  },
  {
    name: "port",
    aliases: ["p"],
    group: "Server",
    type: "integer",
    minimum: 0,
    maximum: 65_535,
    default: 9999,
    help: "Port to listen on; 0 takes a free one.",
  },
  {
    name: "cors-origin",
    group: "Server",
    type: "list",
    placeholder: "ORIGIN",
    help: "Web origin beyond loopback and desktop apps whose pages may call; * for all.",
  },
  {
    name: "allowed-host",
    group: "Server",
    type: "list",
    placeholder: "NAME",
    help: "Host name beyond the loopback ones that requests may carry on a loopback address.",
  },
  {
    name: "streaming",
    group: "Server",
    type: "boolean",
    default: true,
    help: "Honour stream: true; --no-streaming answers such requests as plain JSON.",
  },
  {
    name: "heartbeat-ms",
    group: "Server",
    type: "integer",
    minimum: 100,
    maximum: DAY_MS,
    default: 15_000,
    help: "Silence in a stream after which a comment line keeps the connection alive.",
  },
  {
    name: "max-queue",
    group: "Server",
    type: "integer",
    minimum: 0,
    maximum: 100_000,
    default: 256,
    help: "Requests that may wait beyond the running ones before 503 server_busy.",
  },
  {
    name: "load-timeout-ms",
    group: "Server",
    type: "integer",
    minimum: 0,
    maximum: DAY_MS,
    default: 300_000,
    help: "How long a request waits for a model that is loading or restarting.",
  },
  {
    name: "drain-timeout-ms",
    aliases: ["drain-timeout"],
    group: "Server",
    type: "integer",
    minimum: 0,
    maximum: DAY_MS,
    default: 10_000,
    help: "How long running requests may finish after SIGTERM before they are cancelled.",
  },

  {
    name: "temperature",
    aliases: ["t"],
    group: "Generation",
    type: "number",
    minimum: 0,
    maximum: 5,
    absent: "the model file's, else 0.8",
    help: "Default sampling temperature; 0 is greedy.",
  },
  {
    name: "top-p",
    group: "Generation",
    type: "number",
    minimum: 0,
    maximum: 1,
    absent: "the model file's, else 0.95",
    help: "Default top_p; 1 is off.",
  },
  {
    name: "top-k",
    group: "Generation",
    type: "integer",
    minimum: 0,
    maximum: 1_000_000,
    absent: "the model file's, else 40",
    help: "Default top_k; 0 is off.",
  },
  {
    name: "min-p",
    group: "Generation",
    type: "number",
    minimum: 0,
    maximum: 1,
    absent: "the model file's, else 0.05",
    help: "Default min_p; 0 is off.",
  },
  {
    name: "repetition-penalty",
    aliases: ["repeat-penalty"],
    group: "Generation",
    type: "number",
    minimum: 0.01,
    maximum: 10,
    absent: "the model file's, else 1",
    help: "Default repetition penalty over the last 64 tokens; 1 is off.",
  },
  {
    name: "presence-penalty",
    group: "Generation",
    type: "number",
    minimum: -2,
    maximum: 2,
    absent: "0",
    help: "Default presence penalty.",
  },
  {
    name: "seed",
    group: "Generation",
    type: "integer",
    minimum: 0,
    maximum: 4_294_967_295,
    absent: "random for each request",
    help: "Default seed.",
  },
  {
    name: "max-tokens",
    group: "Generation",
    type: "integer",
    minimum: 1,
    maximum: 16_777_216,
    absent: "the room left in the context",
    help: "Default output limit.",
  },
  {
    name: "max-logprobs",
    group: "Generation",
    type: "integer",
    minimum: 0,
    maximum: 20,
    default: 20,
    help: "Highest top_logprobs that a request may ask for.",
  },
  {
    name: "stop",
    group: "Generation",
    type: "list",
    placeholder: "TEXT",
    help: "Stop sequence of every request, before the request's own.",
  },
  {
    name: "chat-template-kwargs",
    aliases: ["default-chat-template-kwargs"],
    group: "Generation",
    type: "json",
    help: "JSON object of values for the model's chat template; a request's own win.",
  },

  {
    name: "parallel",
    aliases: ["concurrent"],
    group: "Engine",
    type: "integer",
    minimum: 1,
    maximum: 256,
    default: 32,
    help: "Requests that are computed at once; more wait.",
  },
  {
    name: "threads",
    group: "Engine",
    type: "integer",
    minimum: 1,
    maximum: 512,
    absent: "the number of physical cores",
    help: "Threads that compute.",
  },
  {
    name: "gpu-layers",
    group: "Engine",
    type: "integer",
    minimum: -1,
    maximum: 10_000,
    default: -1,
    help: "Layers to compute on a GPU, when the build has one; -1 is all.",
  },
  {
    name: "flash-attention",
    group: "Engine",
    type: "choice",
    choices: ["auto", "on", "off"],
    default: "auto",
    help: "Flash attention.",
  },
  {
    name: "kv-type",
    aliases: ["kv-bits"],
    group: "Engine",
    type: "choice",
    choices: ["f16", "q8_0", "q4_0", "f32", "bf16", "8", "4", "16"],
    default: "f16",
    help: "Number format of the KV cache; 4, 8 and 16 mean q4_0, q8_0 and f16.",
  },
  {
    name: "kv-mode",
    group: "Engine",
    type: "choice",
    choices: ["auto", "unified", "streams"],
    default: "auto",
    help: "unified: requests divide the context freely. streams: each of --parallel has a fixed share, which is faster with many at once. auto is unified.",
  },
  {
    name: "batch",
    group: "Engine",
    type: "integer",
    minimum: 32,
    maximum: 16_384,
    default: 512,
    help: "Most tokens in one step.",
  },
  {
    name: "micro-batch",
    group: "Engine",
    type: "integer",
    minimum: 32,
    maximum: 16_384,
    default: 512,
    help: "Tokens that the kernels take at once.",
  },
  {
    name: "stall-budget-ms",
    group: "Engine",
    type: "integer",
    minimum: 1,
    maximum: 60_000,
    default: 50,
    help: "Longest pause that another request's prompt may cause in running streams.",
  },
  {
    name: "mmap",
    group: "Engine",
    type: "boolean",
    default: true,
    help: "Map the model file into memory instead of reading it.",
  },
  { name: "mlock", group: "Engine", type: "boolean", default: false, help: "Keep the model in memory." },
  {
    name: "warmup",
    group: "Engine",
    type: "boolean",
    default: true,
    help: "Compute once at start, so that the first request is fast.",
  },

  {
    name: "prompt",
    aliases: ["s"],
    group: "One-shot",
    type: "string",
    placeholder: "TEXT",
    help: "Answer this prompt on standard output and exit; - reads it from standard input.",
  },
  {
    name: "instructions",
    aliases: ["i"],
    group: "One-shot",
    type: "string",
    placeholder: "TEXT",
    help: "System message for --prompt.",
  },

  {
    name: "config",
    group: "Output and files",
    type: "path",
    placeholder: "FILE",
    help: "TOML file with options by name.",
  },
  {
    name: "log-level",
    group: "Output and files",
    type: "choice",
    choices: ["debug", "info", "warn", "error"],
    default: "info",
    help: "Least important lines to log, on standard error.",
  },
  {
    name: "log-format",
    group: "Output and files",
    type: "choice",
    choices: ["text", "json"],
    default: "text",
    help: "Form of log lines.",
  },
  {
    name: "cache-dir",
    group: "Output and files",
    type: "path",
    placeholder: "DIR",
    help: "Folder for the unpacked native libraries; default: $XDG_CACHE_HOME/svc or ~/.cache/svc.",
  },
  {
    name: "data-dir",
    group: "Output and files",
    type: "path",
    placeholder: "DIR",
    help: "Folder for what the server keeps; default: $XDG_DATA_HOME/svc or ~/.local/share/svc.",
  },
];

/** The environment variable of an option. */
export const environmentName = (option: Option): string => `SVC_${option.name.toUpperCase().replaceAll("-", "_")}`;
