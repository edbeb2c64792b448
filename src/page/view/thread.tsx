// The shown conversation: its turns, or a welcome with suggestions.

import type { ComponentChildren } from "preact";
import { useErrorBoundary } from "preact/hooks";
import { pathOf } from "../logic/conversation.ts";
import { capabilityNames, type Model } from "../logic/models.ts";
import { Act } from "./act.tsx";
import { usePage } from "./context.ts";
import { useFollowing } from "./following.ts";
import { Mark } from "./icons.tsx";
import { useKeptFocus } from "./kept-focus.ts";
import { Problem } from "./problem.tsx";
import { Trouble } from "./trouble.tsx";
import { AnswerTurn, ToolTurn, UserTurn } from "./turn.tsx";

export function Thread() {
  const { session } = usePage();
  const path = pathOf(session.conversation.value);
  const { run } = session;
  const { scroller, content, isAway, toEnd, look } = useFollowing();
  useKeptFocus(content);
  const goToEnd = () => {
    toEnd();
    // The button vanishes.
    scroller.current?.focus();
  };
  return (
    <div class="thread-frame">
      <div
        class="thread"
        ref={scroller}
        onScroll={look}
        tabIndex={path.length > 0 ? 0 : -1}
        role="region"
        aria-label="Conversation"
      >
        <div class="column" ref={content}>
          {path.length === 0 && <Welcome />}
          {path.map((turn, index) => (
            <Guarded key={turn.id}>
              {turn.role === "user" && <UserTurn turn={turn} />}
              {turn.role === "tool" && <ToolTurn turn={turn} />}
              {turn.role === "assistant" && (
                <AnswerTurn
                  turn={turn}
                  run={run?.turn === turn.id ? run : undefined}
                  isLast={index === path.length - 1}
                />
              )}
            </Guarded>
          ))}
        </div>
      </div>
      {isAway && <Act icon="down" class="to-end icon-button" label="To the newest message" onClick={goToEnd} />}
    </div>
  );
}

/** Shows a sentence in place of a message that cannot be shown, so that the rest of the page goes on. */
function Guarded({ children }: { readonly children: ComponentChildren }) {
  const [error] = useErrorBoundary();
  if (error === undefined) return <>{children}</>;
  return (
    <article class="turn">
      <Problem text="This message cannot be shown." />
    </article>
  );
}

/** What the embedded model can do. */
const TO_TRY = ["What can you do?", "What is the capital of France?", "What is 17 + 25?", "Tell me a short story."];
const TO_CHAT = [
  "What is the capital of France?",
  "Explain how a rainbow forms, in three sentences.",
  "Write a haiku about the sea.",
  "Show a Python function that reverses a list.",
];
const TO_DRAW = ["a red circle above a blue square", "a green star left of a yellow heart"];

const isTiny = (model: Model | undefined) => model?.id === "svc-mini";
const suggestionsFor = (model: Model | undefined) =>
  model?.use === "image" ? TO_DRAW : isTiny(model) ? TO_TRY : TO_CHAT;

function Welcome() {
  const { session } = usePage();
  const { model } = session;
  if (!model && session.trouble.value) {
    return (
      <section class="welcome">
        <Mark />
        <h2>No model to chat with</h2>
        <Trouble />
      </section>
    );
  }
  return (
    <section class="welcome">
      <Mark />
      <h2>{model?.use === "image" ? "What shall I draw?" : "How can I help?"}</h2>
      {model ? <About model={model} /> : <p class="soft">&nbsp;</p>}
      <ul class="suggestions">
        {suggestionsFor(model).map((text) => (
          <li key={text}>
            <button type="button" disabled={!model} onClick={() => session.send(text)}>
              {text}
            </button>
          </li>
        ))}
      </ul>
      {isTiny(model) && (
        <p class="soft hint">
          svc-mini is a tiny model that shows how things work. For real work:
          <br />
          <code>svc --model Qwen/Qwen3-4B-GGUF --pull</code>
        </p>
      )}
    </section>
  );
}

const About = ({ model }: { readonly model: Model }) => (
  <>
    <p class="soft">
      <strong>{model.id}</strong>
      {model.about && ` · ${model.about}`}
    </p>
    <ul class="chips" aria-label="What this model can do">
      {capabilityNames(model).map((name) => (
        <li key={name}>{name}</li>
      ))}
    </ul>
  </>
);
