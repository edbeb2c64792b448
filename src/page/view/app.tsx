// The whole page: the list of chats, and beside it a chat or the server's activity.

import { useSignalEffect } from "@preact/signals";
import { useEffect, useState } from "preact/hooks";
import { fileName, toJson, toMarkdown } from "../logic/export.ts";
import { Act } from "./act.tsx";
import { saveFile } from "./browser.ts";
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

const focusMessage = () => document.querySelector<HTMLElement>("#message")?.focus();

/** Returns the place that the URL names; keeps the URL up to date with the shown chat once that has a turn. */
function usePlace(): Place {
  const { session } = usePage();
  const [place, setPlace] = useState(placeOf(location.hash));
  useEffect(() => {
    const go = () => setPlace(placeOf(location.hash));
    addEventListener("hashchange", go);
    return () => removeEventListener("hashchange", go);
  }, []);
  useEffect(() => {
    if (place.view === "chat" && place.id) {
      void session.show(place.id).then((found) => found || location.replace(hashOf({ view: "chat" })));
    }
  }, [place]);
  useSignalEffect(() => {
    const { id, leaf, title } = session.conversation.value;
    document.title = title ? `${title} · svc` : "svc";
    const current = placeOf(location.hash);
    if (current.view === "chat" && leaf !== null && current.id !== id)
      history.replaceState(null, "", hashOf({ view: "chat", id }));
  });
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
      if (event.key === "Escape" && session.run && !isModal) session.stop();
      else if (begins) {
        session.begin();
        location.hash = hashOf({ view: "chat" });
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
  const act = (close: () => void, action: () => void) => () => {
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
          <button type="button" onClick={act(close, () => save("json", "application/json", toJson([conversation])))}>
            <Icon name="download" /> Export as JSON
          </button>
          <button type="button" onClick={act(close, rename)}>
            <Icon name="edit" /> Rename
          </button>
          <button
            type="button"
            class="danger"
            onClick={act(close, () => {
              if (!confirm("Delete this chat?")) return;
              void session.remove(conversation.id);
              location.hash = hashOf({ view: "chat" });
            })}
          >
            <Icon name="trash" /> Delete
          </button>
        </div>
      )}
    </Menu>
  );
}
