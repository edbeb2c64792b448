// The list of chats, and links to the other views.

import { useState } from "preact/hooks";
import { ago } from "../logic/format.ts";
import { focusMessage, hasKeyboard, isComposing } from "./browser.ts";
import { usePage } from "./context.ts";
import { Icon, Mark } from "./icons.tsx";
import { hashOf, type Place } from "./place.ts";
import { Problem } from "./problem.tsx";

/** Number of chats from which the search field is shown. */
const MANY = 8;

export function Sidebar({ place, onLeave }: { readonly place: Place; readonly onLeave: () => void }) {
  const { session } = usePage();
  const { chats } = session;
  const [words, setWords] = useState("");
  const all = chats.summaries.value;
  const shown = all.filter(({ title }) => title.toLowerCase().includes(words.trim().toLowerCase()));
  const running = session.runs.value;
  const { id: shownId, leaf } = session.conversation.value;
  // From the other view, the logo leads back to the chat that one came from.
  const home = hashOf({ view: "chat", ...(place.view === "watch" && leaf !== null && { id: shownId }) });
  return (
    <div class="sidebar" onClick={(event) => event.target instanceof Element && event.target.closest("a") && onLeave()}>
      <header>
        <a class="brand" href={home}>
          <Mark /> svc
        </a>
      </header>
      <a class="button new" href={hashOf({ view: "chat" })} onClick={() => hasKeyboard() && focusMessage()}>
        <Icon name="plus" /> New chat
      </a>
      <nav class="chats" aria-label="Chats">
        {all.length >= MANY && (
          <input
            type="search"
            placeholder="Search chats"
            aria-label="Search chats"
            value={words}
            onInput={(event) => setWords(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key !== "Escape" || words === "" || isComposing(event)) return;
              // Else it would also stop the answer or close the dialog; not every browser empties the field.
              event.preventDefault();
              event.stopPropagation();
              setWords("");
            }}
          />
        )}
        <ul>
          {shown.map(({ id, title, updatedAt }) => (
            <li key={id}>
              <a
                dir="auto"
                href={hashOf({ view: "chat", id })}
                aria-current={place.view === "chat" && shownId === id ? "page" : undefined}
                title={`${title}, ${ago(updatedAt, Date.now())}`}
              >
                {title || "Untitled"}
                {running.has(id) && <i class="live-dot" role="img" aria-label="is being answered" />}
              </a>
            </li>
          ))}
        </ul>
        {all.length > 0 && shown.length === 0 && <p class="soft">No chat has these words in its name.</p>}
        {all.length === 0 && !chats.trouble.value && (
          <p class="soft">{chats.areKept ? "Your chats stay in this browser." : "This window keeps no chats."}</p>
        )}
        <Problem text={chats.trouble.value} />
      </nav>
      <nav class="places" aria-label="Pages">
        <a href={hashOf({ view: "watch" })} aria-current={place.view === "watch" ? "page" : undefined}>
          <Icon name="pulse" /> Watch
        </a>
        <a href="/docs" target="_blank" rel="noopener">
          <Icon name="book" /> API reference
        </a>
      </nav>
    </div>
  );
}
