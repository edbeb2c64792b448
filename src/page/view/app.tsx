// The whole page: the list of chats, and beside it a chat or the server's activity.

import { effect, useComputed, useSignalEffect } from "@preact/signals";
import { useEffect, useRef, useState } from "preact/hooks";
import { fileName, toJson, toMarkdown } from "../logic/export.ts";
import { Act } from "./act.tsx";
import { focusMessage, isComposing, saveFile } from "./browser.ts";
import { Composer } from "./composer.tsx";
import { usePage } from "./context.ts";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icons.tsx";
import { KeyDialog } from "./key-dialog.tsx";
import { Menu } from "./menu.tsx";
import { ModelPicker } from "./model-picker.tsx";
import { hashOf, placeOf, type Place } from "./place.ts";
import { SettingsDialog } from "./settings.tsx";
import { Sidebar } from "./sidebar.tsx";
import { Thread } from "./thread.tsx";
import { WatchView } from "./watch.tsx";

export function App() {
  const { api, session } = usePage();
  const place = usePlace();
  const [opened, setOpened] = useState<"" | "settings" | "chats">("");
  const close = () => setOpened("");
  useShortcuts();
  return (
    <>
      {place.view === "chat" && (
        <a
          class="skip"
          href="#message"
          onClick={(event) => {
            event.preventDefault();
            focusMessage();
          }}
        >
          To the message field
        </a>
      )}
      <aside class="side-column">
        <Sidebar place={place} onLeave={close} />
      </aside>
      <main>
        <header class="top">
          <Act icon="menu" class="quiet icon-button narrow" label="Show chats" onClick={() => setOpened("chats")} />
          {place.view === "watch" ? <h1 class="title">Watch</h1> : <ModelPicker />}
          <span class="space" />
          {place.view === "chat" && <ChatMenu />}
          <Act icon="sliders" label="Settings" onClick={() => setOpened("settings")} />
        </header>
        {place.view === "watch" ? (
          <WatchView />
        ) : (
          <>
            <h1 class="sr-only">{session.conversation.value.title || "New chat"}</h1>
            <Thread />
            <Composer />
          </>
        )}
      </main>
      {opened === "settings" && <SettingsDialog onClose={close} />}
      {opened === "chats" && (
        <Dialog title="Chats" class="drawer" onClose={close}>
          <Sidebar place={place} onLeave={close} />
        </Dialog>
      )}
      {api.needsKey.value && <KeyDialog />}
      <p class="sr-only" role="status">
        {session.announcement.value}
      </p>
    </>
  );
}

/** Returns the place that the URL names, and shows its chat; keeps the URL up to date with the shown chat. */
function usePlace(): Place {
  const { session } = usePage();
  const [place, setPlace] = useState(placeOf(location.hash));
  // A chat without a turn has no URL of its own.
  const shown = useComputed(() => {
    const { id, leaf } = session.conversation.value;
    return leaf === null ? undefined : id;
  });
  const before = useRef<string | undefined>(undefined);
  useEffect(() => {
    const go = () => {
      const to = placeOf(location.hash);
      setPlace(to);
      if (to.view !== "chat") return;
      if (to.id) void session.show(to.id).then((found) => found || location.replace(hashOf({ view: "chat" })));
      else session.begin();
    };
    go();
    addEventListener("hashchange", go);
    return () => removeEventListener("hashchange", go);
  }, []);
  useSignalEffect(() => {
    const { title } = session.conversation.value;
    document.title = title ? `${title} · svc` : "svc";
  });
  // At once, unlike useSignalEffect: later, the address may already be the next one.
  useEffect(
    () =>
      effect(() => {
        const id = shown.value;
        const at = placeOf(location.hash);
        const isDeleted = !id && at.id === before.current;
        before.current = id;
        if (at.view !== "chat" || at.id === id || !(id || isDeleted)) return;
        // From a branch, the browser's Back leads to the chat that it was made of.
        const isBranch = id && at.id;
        history[isBranch ? "pushState" : "replaceState"](null, "", hashOf({ view: "chat", ...(id && { id }) }));
      }),
    [],
  );
  return place;
}

const IS_APPLE = /^(?:Mac|iPhone|iPad)/.test(navigator.platform);

/** Handles shortcuts: Escape stops the answer, Alt-N begins a chat, / focuses the message field. */
function useShortcuts(): void {
  const { session } = usePage();
  useEffect(() => {
    const press = (event: KeyboardEvent) => {
      const isTyping = event.target instanceof Element && event.target.closest("input, textarea, select, dialog");
      const isModal = document.querySelector("dialog[open]") !== null;
      const { altKey, ctrlKey, metaKey, code } = event;
      // On Apple's keyboards, Option-N types a tilde. Ctrl with Alt may be AltGr.
      const begins = altKey && code === "KeyN" && !ctrlKey && !metaKey && !isModal && !(isTyping && IS_APPLE);
      // In the other view, the answer is not seen; while composing, Escape is the input method's.
      const stops = event.key === "Escape" && session.run && !isModal && !isComposing(event);
      if (stops && placeOf(location.hash).view === "chat") session.stop();
      else if (begins) {
        location.hash = hashOf({ view: "chat" });
        focusMessage();
      } else if (event.key === "/" && !isTyping) focusMessage();
      else return;
      event.preventDefault();
    };
    addEventListener("keydown", press);
    return () => removeEventListener("keydown", press);
  }, []);
}

/** The actions for the shown chat. */
function ChatMenu() {
  const { session } = usePage();
  const conversation = session.conversation.value;
  if (conversation.leaf === null) return null;
  const save = (ending: string, type: string, text: string) =>
    saveFile(`${fileName(conversation.title)}.${ending}`, type, text);
  const rename = () => {
    const title = prompt("Name of this chat", conversation.title);
    if (title?.trim()) session.rename(title.trim());
  };
  const act = (close: () => void, action: () => unknown) => () => {
    close();
    action();
  };
  return (
    <Menu label="This chat" button={<Icon name="more" />} align="end">
      {(close) => (
        <div class="actions">
          <button type="button" onClick={act(close, () => save("md", "text/markdown", toMarkdown(conversation)))}>
            <Icon name="download" /> Export as Markdown
          </button>
          <button
            type="button"
            onClick={act(close, async () => {
              for await (const text of toJson([conversation])) await save("json", "application/json", text);
            })}
          >
            <Icon name="download" /> Export as JSON
          </button>
          <button type="button" onClick={act(close, rename)}>
            <Icon name="edit" /> Rename
          </button>
          <button
            type="button"
            class="danger"
            onClick={act(close, () => confirm("Delete this chat?") && void session.remove(conversation.id))}
          >
            <Icon name="trash" /> Delete
          </button>
        </div>
      )}
    </Menu>
  );
}
