// Tools that a client declares but defers (`defer_loading`). The model finds them with one of the client's tools, whose
// results refer to them. They are described there and not at the beginning, so that the prefix of the prompt does not
// change.

import type { MessagesPrompt } from "../../contract/messages.ts";
import type { ContentPart } from "../../domain/generate.ts";

type WireTool = NonNullable<MessagesPrompt["tools"]>[number];

/** Returns the tools that may be called; tools that results describe come last, in the order of their first mention. */
export function callableTools({ tools, messages }: MessagesPrompt): { tool: WireTool; described: boolean }[] {
  const declared = tools ?? [];
  // Tool search in Anthropic's service does not run here, so with it no tool is deferred.
  const searched = !declared.some(({ type }) => type?.startsWith("tool_search_tool"));
  const held = (tool: WireTool) => searched && tool.defer_loading === true;
  const mentioned = new Set(messages.flatMap(({ content }) => [...references(content)]));
  const place = new Map([...mentioned].map((name, index) => [name, index]));
  const placeOf = ({ name }: WireTool) => place.get(name) ?? -1;
  const found = declared.filter((tool) => held(tool) && placeOf(tool) >= 0).toSorted((a, b) => placeOf(a) - placeOf(b));
  return [
    ...declared.filter((tool) => !held(tool)).map((tool) => ({ tool, described: false })),
    ...found.map((tool) => ({ tool, described: true })),
  ];
}

/** Returns what the model reads where a result refers to a tool. */
export type DescribeTool = (name: string) => ContentPart;

/**
 * Describes the tools of one conversation, in its order. Each tool is described once: many short references to a tool
 * with a long schema would otherwise become a prompt that fits no memory.
 */
export function toolDescriptions(tools: readonly WireTool[]): DescribeTool {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const described = new Set<string>();
  const describe = (name: string): string => {
    const tool = byName.get(name);
    if (!tool) return `The tool ${name} is not available.`;
    if (described.has(name)) return `The tool ${name} can be called, as described above.`;
    described.add(name);
    const { description, input_schema: parameters } = tool;
    const definition = JSON.stringify({ type: "function", function: { name, description, parameters } });
    return `This tool can be called now:\n${definition}`;
  };
  return (name) => ({ type: "text", text: describe(name) });
}

/** Yields the names of tools that blocks refer to, also inside results. */
function* references(content: unknown): Generator<string, void, void> {
  if (!Array.isArray(content)) return;
  for (const { type, tool_name: name, content: inner } of content) {
    if (type === "tool_reference" && typeof name === "string") yield name;
    else if (type === "tool_result") yield* references(inner);
  }
}
