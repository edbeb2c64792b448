// The models of the server, by what people do with them.

import type { ModelList } from "../../contract/model.ts";
import { bytes, compact, contextLength } from "./format.ts";

export interface Model {
  readonly id: string;
  /** What it is for: conversations, or images. */
  readonly use: "chat" | "image";
  readonly capabilities: ReadonlySet<string>;
  readonly loaded: boolean;
  /** Its server reports tokens and the prompt's progress while it writes; not all do that stand behind a gateway. */
  readonly reports: boolean;
  /** Tokens of prompt and answer together. */
  readonly context?: number;
  /** Architecture, size and device in one line. */
  readonly about: string;
}

/** What the server can do beside chatting. */
export interface Abilities {
  readonly speech: boolean;
  readonly images: boolean;
}

/** Owners of models whose servers report: svc's, those that are part of it, and llama.cpp's. */
const REPORTING: ReadonlySet<string> = new Set(["svc", "system", "llamacpp"]);

/** Models to choose from, in the order of the list, those to chat with first. */
export function modelsOf({ data, models }: ModelList): Model[] {
  const all = data.flatMap((entry, index): Model[] => {
    const details = models[index];
    const capabilities = new Set(details?.capabilities);
    // svc-system has no `chat`: it is for programs that ask for it by name.
    const use = capabilities.has("chat") ? "chat" : capabilities.has("images") ? "image" : undefined;
    if (!use) return [];
    const { context_length: context } = entry as { readonly context_length?: number };
    const about = [
      details?.description,
      details?.parameters && `${compact(details.parameters)} parameters`,
      details?.bytes && bytes(details.bytes),
      context && `${contextLength(context)} context`,
    ];
    return [
      {
        id: entry.id,
        use,
        capabilities,
        loaded: entry.loaded,
        reports: REPORTING.has(entry.owned_by),
        ...(context !== undefined && { context }),
        about: about.filter(Boolean).join(" · "),
      },
    ];
  });
  return all.toSorted((a, b) => Number(a.use === "image") - Number(b.use === "image"));
}

export function abilitiesOf({ models }: ModelList): Abilities {
  const has = (capability: string) => models.some(({ capabilities }) => capabilities.includes(capability));
  return { speech: has("speech"), images: has("images") };
}

/** Capabilities that people choose a model by, in their words. */
const SHOWN: readonly (readonly [string, string])[] = [
  ["vision", "Pictures"],
  ["audio", "Sound"],
  ["tools", "Tools"],
  ["reasoning", "Thinking"],
  ["images", "Makes images"],
];

export const capabilityNames = ({ capabilities }: Model): string[] =>
  SHOWN.flatMap(([capability, name]) => (capabilities.has(capability) ? name : []));
