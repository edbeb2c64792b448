// One turn of a conversation with its actions.

import { useComputed } from "@preact/signals";
import type { ComponentChildren } from "preact";
import { useLayoutEffect, useRef, useState } from "preact/hooks";
import { ENDS } from "../logic/answer.ts";
import { pathOf, siblingsOf, type Turn } from "../logic/conversation.ts";
import { duration, rate, whole } from "../logic/format.ts";
import { turnPlace } from "../state/drafts.ts";
import type { Run } from "../state/run.ts";
import { Act } from "./act.tsx";
import { Attachments } from "./attachments.tsx";
import { isComposing } from "./browser.ts";
import { usePage } from "./context.ts";
import { Icon, type IconName } from "./icons.tsx";
import { CopyButton, Markdown } from "./markdown.tsx";
import { Problem } from "./problem.tsx";
import { ReadAloud } from "./read-aloud.tsx";
import { ToolCalls } from "./tool-calls.tsx";

export function UserTurn({ turn }: { readonly turn: Turn }) {
  const { isEditing, begins, edit } = useEditing(turn);
  if (isEditing) return <Editor turn={turn} label="Send" begins={begins} />;
  return (
    <article class="turn user" aria-label="You">
      {turn.attachments && <Attachments attachments={turn.attachments} />}
      {turn.text && (
        <div class="bubble" dir="auto">
          {turn.text}
        </div>
      )}
      <footer>
        <Branches turn={turn} />
        {turn.text && <CopyButton text={turn.text} label="Copy" />}
        <Act icon="edit" label="Edit" onClick={edit} />
      </footer>
    </article>
  );
}

/** A result that the user entered for a tool call. */
export function ToolTurn({ turn }: { readonly turn: Turn }) {
  const { session } = usePage();
  const calls = pathOf(session.conversation.value, turn.id).flatMap(({ toolCalls = [] }) => toolCalls);
  const name = calls.findLast(({ id }) => id === turn.toolCallId)?.name;
  return (
    <article class="turn" aria-label="Result">
      <details>
        <Summary icon="tool">{name ? `Result of ${name}` : "Result"}</Summary>
        <pre dir="auto">{turn.text}</pre>
      </details>
    </article>
  );
}

interface AnswerProps {
  readonly turn: Turn;
  /** Set while the answer is being generated. */
  readonly run: Run | undefined;
  /** Whether the turn is the last one, so that its tool calls can be answered. */
  readonly isLast: boolean;
}

export function AnswerTurn({ turn: stored, run, isLast }: AnswerProps) {
  const { session } = usePage();
  const { isEditing, begins, edit } = useEditing(stored);
  const [unspoken, setUnspoken] = useState("");
  const content = useRef<HTMLDivElement>(null);
  const isElsewhere = session.otherTabs.isWriting(session.conversation.value.id, stored.id);
  const turn = run ? { ...stored, ...run.answer.value.turn } : stored;
  const { text, reasoning, images = [], toolCalls = [], error, readInputs = [], readNames = [] } = turn;
  // The arguments of an answer that was cut are incomplete.
  const canAnswer = isLast && !run && session.model && turn.finish === "tool_calls";
  const isEmpty = !text && !reasoning && toolCalls.length === 0 && images.length === 0;
  if (isEditing) return <Editor turn={turn} label="Save as a branch" begins={begins} />;
  return (
    <article class="turn answer" aria-label={turn.model ?? "Answer"} aria-busy={run !== undefined}>
      <h2>{turn.model}</h2>
      {readInputs.map((read, index) => (
        <details key={index}>
          <Summary icon="file">Read from {readNames[index] || "what you attached"}</Summary>
          <pre dir="auto">{read || "No text was found."}</pre>
        </details>
      ))}
      {reasoning && <Thinking turn={turn} isThinking={run !== undefined && !text} text={reasoning} />}
      <div ref={content}>{text && <Markdown text={text} />}</div>
      {images.map((url, index) => (
        <a key={index} class="made" href={url} download={`image-${index + 1}.${/\/(\w+)/.exec(url)?.[1] ?? "png"}`}>
          <img src={url} alt="What the model drew" />
        </a>
      ))}
      {toolCalls.length > 0 && (
        <ToolCalls turn={turn} onAnswer={canAnswer ? (given) => session.answerCalls(turn, given) : undefined} />
      )}
      {run && isEmpty && (
        <p class="dots">
          <span class="sr-only">Waiting for the first word</span>
          <i />
          <i />
          <i />
        </p>
      )}
      <Problem text={error} />
      <Problem text={unspoken} />
      <footer>
        {run ? (
          <span class="facts">{progressOf(run)}</span>
        ) : (
          <>
            <Branches turn={turn} />
            {text && <CopyButton text={text} label="Copy" />}
            <Act
              icon="again"
              label="Regenerate"
              disabled={!session.model || session.run !== undefined}
              onClick={() => session.regenerate(turn)}
            />
            {text && <Act icon="edit" label="Edit" onClick={edit} />}
            <Act icon="branch" label="Branch into a new chat" onClick={() => session.fork(turn)} />
            {text && <ReadAloud text={() => content.current?.innerText ?? text} onProblem={setUnspoken} />}
            <span class="facts">{factsOf(turn, isElsewhere)}</span>
          </>
        )}
      </footer>
    </article>
  );
}

function Thinking({
  turn,
  text,
  isThinking,
}: {
  readonly turn: Turn;
  readonly text: string;
  readonly isThinking: boolean;
}) {
  const [isOpen, setOpen] = useState(false);
  const took = turn.reasoningMs === undefined ? "Thought" : `Thought for ${duration(turn.reasoningMs)}`;
  return (
    <details class="thinking" onToggle={(event) => setOpen(event.currentTarget.open)}>
      <Summary icon="thought" class={isThinking ? "live" : ""}>
        {isThinking ? "Thinking…" : took}
      </Summary>
      {/* Complete, it is also there for the browser's search. */}
      {(isOpen || !isThinking) && <Markdown text={text} />}
    </details>
  );
}

interface SummaryProps {
  readonly icon: IconName;
  readonly class?: string;
  readonly children: ComponentChildren;
}

/** The line of a folded text, which opens it. */
const Summary = ({ icon, class: name = "", children }: SummaryProps) => (
  <summary class={name}>
    <Icon name={icon} /> {children} <Icon name="down" />
  </summary>
);

function Branches({ turn }: { readonly turn: Turn }) {
  const { session } = usePage();
  const siblings = siblingsOf(session.conversation.value, turn);
  const at = siblings.findIndex(({ id }) => id === turn.id);
  if (siblings.length < 2 || session.run) return null;
  const step = (by: number, icon: IconName, label: string) => {
    const to = siblings[at + by];
    return <Act icon={icon} label={label} disabled={!to} onClick={() => to && session.showBranch(to.id)} />;
  };
  return (
    <span class="branches">
      {step(-1, "left", "Previous version")}
      <span role="img" aria-label={`Version ${at + 1} of ${siblings.length}`}>
        {at + 1}/{siblings.length}
      </span>
      {step(1, "right", "Next version")}
    </span>
  );
}

/** Tells whether a turn is being edited, also since before another chat was shown, and begins an edit. */
function useEditing(turn: Turn) {
  const { session } = usePage();
  const { conversation, drafts } = session;
  const isEditing = useComputed(() => drafts.has(turnPlace(conversation.value, turn)));
  /** Whether an edit begins that the editor does not show yet. */
  const begins = useRef(false);
  const edit = () => {
    begins.current = true;
    drafts.change(turnPlace(conversation.value, turn), {});
  };
  return { isEditing: isEditing.value, begins, edit };
}

interface EditorProps {
  readonly turn: Turn;
  readonly label: string;
  readonly begins: { current: boolean };
}

function Editor({ turn, label, begins }: EditorProps) {
  const { session } = usePage();
  const { drafts } = session;
  const area = useRef<HTMLTextAreaElement>(null);
  const place = turnPlace(session.conversation.value, turn);
  const { text, attachments } = drafts.of(place, { text: turn.text, attachments: turn.attachments ?? [] });
  useLayoutEffect(() => {
    if (!begins.current) return;
    begins.current = false;
    // One reads a long text from its beginning.
    area.current?.setSelectionRange(0, 0);
    area.current?.focus();
  }, []);
  // Only a user's turn needs a model: it is sent again.
  const isBlocked = session.run !== undefined || (turn.role === "user" && !session.model);
  const save = () => {
    if (isBlocked || (turn.role === "user" && text.trim() === "" && attachments.length === 0)) return;
    drafts.drop(place);
    session.edit(turn, text, attachments);
  };
  return (
    <form
      class={`turn editor ${turn.role}`}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
      onKeyDown={(event) => {
        if (event.key === "Escape" && !isComposing(event)) {
          // Else it would stop the answer, too.
          event.stopPropagation();
          drafts.drop(place);
        }
        if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) save();
      }}
    >
      {attachments.length > 0 && (
        <Attachments
          attachments={attachments}
          onRemove={(at) => drafts.change(place, { attachments: attachments.toSpliced(at, 1) })}
        />
      )}
      <textarea
        ref={area}
        dir="auto"
        aria-label="Text"
        value={text}
        rows={Math.min(16, text.split("\n").length + 1)}
        onInput={(event) => drafts.change(place, { text: event.currentTarget.value })}
      />
      <div class="buttons">
        <button type="button" onClick={() => drafts.drop(place)}>
          Cancel
        </button>
        <button type="submit" class="primary" disabled={isBlocked}>
          {label}
        </button>
      </div>
    </form>
  );
}

/** Returns the progress of an answer as text. */
function progressOf({ answer }: Run): string {
  const { firstMs, prompt, running } = answer.value;
  if (firstMs === undefined) return prompt ? `${whole(prompt.processed)} of ${whole(prompt.total)} prompt tokens` : "";
  if (!running) return "";
  const speed = running.perSecond > 0 ? ` · ${rate(running.perSecond)} tokens/s` : "";
  return `${whole(running.tokens)} tokens${speed}`;
}

function factsOf({ stats, finish }: Turn, isElsewhere: boolean): string {
  const { tokensPerSecond, completionTokens, firstTokenMs, cachedTokens = 0 } = stats ?? {};
  const facts = [
    finish === undefined ? (isElsewhere ? "being written in another tab" : "interrupted") : ENDS[finish],
    tokensPerSecond !== undefined && `${rate(tokensPerSecond)} tokens/s`,
    completionTokens !== undefined && `${whole(completionTokens)} tokens`,
    firstTokenMs !== undefined && `first after ${duration(firstTokenMs)}`,
    cachedTokens > 0 && `${whole(cachedTokens)} from the cache`,
  ];
  return facts.filter(Boolean).join(" · ");
}
