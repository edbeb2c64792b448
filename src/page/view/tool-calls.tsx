// Tool calls of a model and their results: the page runs no functions, so the user enters the results.

import type { Turn } from "../logic/conversation.ts";
import { turnPlace } from "../state/drafts.ts";
import { usePage } from "./context.ts";
import { Icon } from "./icons.tsx";

interface ToolCallsProps {
  /** The answer with the calls. */
  readonly turn: Turn;
  /** Receives the results, one per call. */
  readonly onAnswer: ((results: readonly string[]) => void) | undefined;
}

export function ToolCalls({ turn, onAnswer }: ToolCallsProps) {
  const { session } = usePage();
  const { conversation, drafts } = session;
  const { toolCalls: calls = [] } = turn;
  const placeOf = (index: number) => turnPlace(conversation.value, turn, index);
  const send = (event: Event) => {
    event.preventDefault();
    const places = calls.map((_, index) => placeOf(index));
    const results = places.map((place) => drafts.of(place).text);
    for (const place of places) drafts.drop(place);
    onAnswer?.(results);
  };
  return (
    <form class="calls" onSubmit={send}>
      {calls.map((call, index) => (
        <section key={call.id} class="call">
          <h3>
            <Icon name="tool" /> {call.name || "…"}
          </h3>
          <pre>{pretty(call.arguments)}</pre>
          {onAnswer && (
            <label>
              Result
              <textarea
                rows={2}
                placeholder="Result of the function, as text or JSON"
                required
                value={drafts.of(placeOf(index)).text}
                onInput={({ currentTarget: { value } }) => drafts.change(placeOf(index), { text: value })}
              />
            </label>
          )}
        </section>
      ))}
      {onAnswer && (
        <div class="buttons">
          <button type="submit" class="primary">
            Send the {calls.length > 1 ? "results" : "result"}
          </button>
        </div>
      )}
    </form>
  );
}

function pretty(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), undefined, 2);
  } catch {
    // The JSON is incomplete: the model is still generating it.
    return json;
  }
}
