// What a person sees when the server is ready.

import type { Config } from "../config/config.ts";
import { isLoopback } from "../config/host-name.ts";
import { version } from "../config/version.ts";
import type { ModelInfo } from "../domain/model.ts";
import type { Runtime } from "./runtime.ts";

/** Model, context, device, address, and a line that can be pasted. */
export function banner(
  runtime: Pick<Runtime, "config" | "context" | "modelGiven">,
  model: ModelInfo,
  boundUrl: string,
): string {
  const { context, modelGiven, config } = runtime;
  const url = reachable(boundUrl);
  const size = `${count(model.parameters)} parameters, ${(model.bytes / 2 ** 20).toFixed(0)} MiB`;
  const lines: [string, string][] = [
    ["model", `${model.id} (${model.description}; ${size})`],
    ["context", contextText(model, config.parallel, context)],
    ["device", model.device],
    ["can", abilities(model)],
    ...(config.lora.length > 0
      ? [["adapters", config.lora.map(({ name }) => name).join(", ")] as [string, string]]
      : []),
    ["address", `${url}/v1  ·  chat ${url}/  ·  docs ${url}/docs`],
  ];
  const demo = modelGiven
    ? ""
    : "\n  This is svc-mini, a tiny demonstration model. For real work: svc --model file.gguf\n";
  const key = config.apiKeys.length > 0 ? "-H 'Authorization: Bearer KEY' " : "";
  const call = `curl ${url}/v1/chat/completions ${key}-H 'Content-Type: application/json' \\\n    -d '{"messages":[{"role":"user","content":"What is the capital of France?"}]}'`;
  return `svc ${version}\n${lines.map(([name, value]) => `  ${name.padEnd(8)} ${value}\n`).join("")}${demo}\n  ${call}\n\n`;
}

/** The same of a server without a model of its own. */
export function gatewayBanner(models: number, boundUrl: string): string {
  const url = reachable(boundUrl);
  const found = `${models} model${models === 1 ? "" : "s"} of other servers; curl ${url}/v1/models lists them`;
  return `svc ${version}\n  gateway  ${found}\n  address  ${url}/v1  ·  chat ${url}/  ·  docs ${url}/docs\n\n`;
}

/** What clients may ask of it, beyond text. */
function abilities({ template, vision, audio }: ModelInfo): string {
  const can = [
    template.tools && "tools",
    "JSON schemas",
    template.thinking && "reasoning",
    vision && "pictures",
    audio && "sound",
  ];
  return can.filter((one) => one !== false).join(", ");
}

function contextText(
  { context, maxModelLen }: ModelInfo,
  parallel: number,
  { kvMode, note }: Runtime["context"],
): string {
  const limit = maxModelLen < context ? `, at most ${maxModelLen} each` : "";
  const mode = kvMode === "streams" ? "fixed shares" : kvMode === "paged" ? "paged" : "divided freely";
  return `${context} tokens for up to ${parallel} requests at once, ${mode}${limit}${note ? ` (${note})` : ""}`;
}

/** Every address of the machine is listened on: this one works here. */
const reachable = (url: string): string => url.replace(/\/\/(0\.0\.0\.0|\[::\]):/, "//127.0.0.1:");

/** What listening beyond loopback means where no key is asked for, or nothing. */
export function exposure({ host, port, apiKeys }: Pick<Config, "host" | "port" | "apiKeys">): string {
  if (isLoopback(host) || apiKeys.length > 0) return "";
  return `listening on ${host}:${port}: everyone who can reach this address can use the model, read and delete files, batches and stored responses, cancel requests and read /metrics; no key is asked for (--api-key-file)`;
}

function count(value: number): string {
  const units: [number, string][] = [
    [1e9, "B"],
    [1e6, "M"],
    [1e3, "K"],
  ];
  const [size, unit] = units.find(([least]) => value >= least) ?? [1, ""];
  return `${(value / size).toFixed(1)}${unit}`;
}
