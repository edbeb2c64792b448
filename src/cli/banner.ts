// The banner that a user sees when the server is ready.

import { styleText } from "node:util";
import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/host-name.ts";
import { version } from "../config/version.ts";
import { memorySize } from "../domain/gib.ts";
import type { ModelInfo } from "../domain/model.ts";
import type { UsableCores } from "../engine/process/machine.ts";
import type { Reachable } from "./reachable.ts";
import type { Runtime } from "./runtime.ts";

type Line = readonly [name: string, value: string];

export interface BannerOptions {
  readonly addresses: Reachable;
  /** Names of the models of --chat-model and --pulled-models. */
  readonly furtherModels?: readonly string[];
  /** Whether models are offered as soon as they are downloaded. */
  readonly offersPulled?: boolean;
  readonly colours?: boolean;
}

interface ModelBannerOptions extends BannerOptions {
  readonly cores: UsableCores;
}

/** How many further models are named. */
const MOST_NAMED = 6;

/** Returns model, context, KV cache and threads with their reasons, device, addresses, and a curl command to paste. */
export function banner(
  { context, modelGiven, config }: Pick<Runtime, "config" | "context" | "modelGiven">,
  model: ModelInfo,
  options: ModelBannerOptions,
): string {
  const { addresses, cores, colours = false } = options;
  const parameters = model.parameters.toLocaleString("en", { notation: "compact", maximumFractionDigits: 1 });
  const size = `${parameters} parameters, ${memorySize(model.bytes)}`;
  const lines: Line[] = [
    ["model", `${model.id} (${model.description}; ${size})`],
    ["context", contextText(model, config.parallel, context)],
    ...cacheLine(context, config),
    ["device", model.device],
    ["threads", threadsText(config, cores)],
    ["supports", abilities(model)],
  ];
  if (config.lora.length > 0) lines.push(["adapters", config.lora.map(({ name }) => name).join(", ")]);
  lines.push(...furtherLine("others", options));
  const demo = modelGiven
    ? ""
    : "\n  This is svc-mini, a tiny demonstration model. For real work:\n  svc --model Qwen/Qwen3-4B-GGUF --pull\n";
  const key = config.apiKeys.length > 0 ? "-H 'Authorization: Bearer KEY' " : "";
  const trust = config.tls ? `--cacert '${config.tls.certFile}' ` : "";
  const call = `curl ${trust}${addresses.here}/v1/chat/completions ${key}-H 'Content-Type: application/json' \\\n    -d '{"messages":[{"role":"user","content":"What is the capital of France?"}]}'`;
  return `${page([...lines, ...addressLines(addresses)], colours)}\n  ${call}\n${demo}\n`;
}

/** Returns the banner of a server without a model of its own. */
export function gatewayBanner(models: number, options: BannerOptions): string {
  const { addresses, colours = false } = options;
  const list = `${addresses.here}/v1/models`;
  const found =
    models === 0
      ? `no chat model so far: --chat-model, --pulled-models and --upstream add some; curl ${list} lists other models`
      : `${models} model${models === 1 ? "" : "s"} of upstreams; curl ${list} lists them`;
  const further = furtherLine("models", options);
  const upstreams: Line[] = models === 0 && further.length > 0 ? [] : [["gateway", found]];
  return `${page([...upstreams, ...further, ...addressLines(addresses)], colours)}\n`;
}

function furtherLine(label: string, { furtherModels: names = [], offersPulled = false }: BannerOptions): Line[] {
  if (names.length === 0) return offersPulled ? [[label, "none yet: svc pull owner/repository downloads one"]] : [];
  const more = names.length > MOST_NAMED ? ` and ${names.length - MOST_NAMED} more` : "";
  return [[label, `${names.slice(0, MOST_NAMED).join(", ")}${more} (loaded on first use)`]];
}

/** The addresses to open, and the machines that can open them. */
const addressLines = ({ here, others }: Reachable): Line[] => [
  ["chat", `${here}/`],
  ["API", `${here}/v1  (reference: ${here}/docs)`],
  ["network", networkText(others)],
];

function networkText(others: Reachable["others"]): string {
  if (!others) return "this machine alone; --host 0.0.0.0 --api-key-file FILE lets others connect";
  if (others.length === 0) return "no address yet; svc listens on each one that this machine gets";
  return `${others.map((url) => `${url}/`).join("  ")}  (svc qr shows a QR code for phones)`;
}

function page(lines: readonly Line[], colours: boolean): string {
  const paint = (style: "bold" | "dim" | "cyan", text: string) =>
    colours ? styleText(style, text, { validateStream: false }) : text;
  const shown = lines.map(([name, value]) => {
    const withLinks = value.replaceAll(/https?:\/\/[^\s)]+/g, (url) => paint("cyan", url));
    return `  ${paint("dim", name.padEnd(8))} ${withLinks}\n`;
  });
  return `${paint("bold", `svc ${version}`)}\n${shown.join("")}`;
}

/** Returns what the model can do beyond text. */
function abilities({ template, vision, audio }: ModelInfo): string {
  const can = [
    template.tools && "tools",
    "JSON schemas",
    template.thinking && "reasoning",
    vision && "images",
    audio && "sound",
  ];
  return can.filter((one) => one !== false).join(", ");
}

function contextText({ context, maxModelLen }: ModelInfo, parallel: number, { note }: Runtime["context"]): string {
  const why = note ? ` (${note})` : "";
  return `${maxModelLen} tokens per request${why}; ${context} in total for up to ${parallel} requests at once`;
}

/** Sliding windows take less than is counted, and recurrent models nothing. */
function cacheLine(context: Runtime["context"], asked: Pick<Config, "kvMode">): Line[] {
  const { kvMode, kvBytes, kvReason = "--kv-mode" } = context;
  // A layout that was asked for in vain is told even then.
  if (kvBytes === 0) return asked.kvMode === "paged" ? [["KV cache", `none (${kvReason})`]] : [];
  const size = kvMode === "paged" ? `${memorySize(kvBytes)} when full` : `at most ${memorySize(kvBytes)}`;
  return [["KV cache", `${kvMode}, ${size} (${kvReason})`]];
}

const LIMITS: Readonly<Record<UsableCores["limit"], string>> = {
  physical: "the physical cores",
  share: "the share of this container or service",
  allowed: "the cores that svc may use",
};

const threadsText = ({ threads }: Pick<Config, "threads">, { count, limit }: UsableCores): string =>
  threads === undefined ? `at most ${count} (${LIMITS[limit]})` : `at most ${threads} (--threads)`;

/** Returns a warning when the server listens beyond loopback without requiring a key, else an empty string. */
export function exposure({ host, port, apiKeys }: Pick<Config, "host" | "port" | "apiKeys">): string {
  if (isLoopback(host) || apiKeys.length > 0) return "";
  const address = host.includes(":") ? `[${host}]` : host;
  return `listening on ${address}:${port}: everyone who can reach this address can use the model, read and delete files, batches and stored responses, cancel requests and read /metrics; no API key is required (set keys with --api-key-file)`;
}
