// Tool calls of a model and their results: the page runs no functions, so the user enters the results.

import { useRef } from "preact/hooks";
import type { ToolCall } from "../logic/conversation.ts";
import { Icon } from "./icons.tsx";

interface ToolCallsProps {
  readonly calls: readonly ToolCall[];
  /** Receives the results, one per call. */
  readonly onAnswer: ((results: readonly string[]) => void) | undefined;
}

export function ToolCalls({ calls, onAnswer }: ToolCallsProps) {
  const form = useRef<HTMLFormElement>(null);
  const send = (event: Event) => {
    event.preventDefault();
    const fields = new FormData(form.current ?? undefined);
    onAnswer?.(calls.map((_, index) => String(fields.get(`result-${index}`) ?? "")));
  };
  return (
    <form class="calls" ref={form} onSubmit={send}>
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
                name={`result-${index}`}
                rows={2}
                placeholder="Result of the function, as text or JSON"
                required
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
