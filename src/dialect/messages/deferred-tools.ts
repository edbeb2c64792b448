// Tools that a client declares and holds back (`defer_loading`): the model finds them through a tool of the client's own,
// whose results refer to them. Described there and not at the beginning, they leave the prompt before them as it was.

import type { MessagesPrompt } from "../../contract/messages.ts";
import type { ContentPart } from "../../domain/generate.ts";

type WireTool = NonNullable<MessagesPrompt["tools"]>[number];

/** The tools that may be called, with those that results have described last, in the order of their first mention. */
export function callableTools({ tools, messages }: MessagesPrompt): { tool: WireTool; described: boolean }[] {
  const declared = tools ?? [];
  // A search that would run elsewhere finds nothing here, so nothing is held back from the model either.
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

/** Says what the model reads where a result refers to a tool. */
export type DescribeTool = (name: string) => ContentPart;

/**
 * Descriptions for one conversation, in its order: each tool is described once, or many short references to a tool with a
 * long schema would be a prompt that no memory holds.
 */
export function toolDescriptions(tools: readonly WireTool[]): DescribeTool {
  const byName = new Map(tools.map((tool) => [tool.name, tool]));
  const told = new Set<string>();
  const describe = (name: string): string => {
    const tool = byName.get(name);
    if (!tool) return `The tool ${name} is not available.`;
    if (told.has(name)) return `The tool ${name} can be called, as described above.`;
    told.add(name);
    const { description, input_schema: parameters } = tool;
    const definition = JSON.stringify({ type: "function", function: { name, description, parameters } });
    return `This tool can be called now:\n${definition}`;
  };
  return (name) => ({ type: "text", text: describe(name) });
}

/** Names of the tools that blocks refer to, also those inside the results of calls. */
function* references(content: unknown): Generator<string, void, void> {
  if (!Array.isArray(content)) return;
  for (const { type, tool_name: name, content: inner } of content) {
    if (type === "tool_reference" && typeof name === "string") yield name;
    else if (type === "tool_result") yield* references(inner);
  }
}
