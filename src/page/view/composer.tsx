// The form for messages.

import { useEffect, useRef, useState } from "preact/hooks";
import { contextUsed, pathOf } from "../logic/conversation.ts";
import { acceptedBy } from "../logic/files.ts";
import { whole } from "../logic/format.ts";
import { messageOf } from "../state/api.ts";
import { messagePlace } from "../state/drafts.ts";
import { Act } from "./act.tsx";
import { attach, Attachments } from "./attachments.tsx";
import { chooseFiles, hasKeyboard, isComposing, useDroppedFiles } from "./browser.ts";
import { usePage } from "./context.ts";
import { Problem } from "./problem.tsx";
import { Trouble } from "./trouble.tsx";

export function Composer() {
  const { session } = usePage();
  const { model, run } = session;
  const conversation = session.conversation.value;
  const { id } = conversation;
  const { drafts } = session;
  const place = messagePlace(conversation);
  const { text, attachments } = drafts.of(place);
  const [problem, setProblem] = useState("");
  /** How many times files were added that are still being read. */
  const [reading, setReading] = useState(0);
  const area = useRef<HTMLTextAreaElement>(null);
  const mayWrite = hasKeyboard();
  useEffect(() => {
    if (mayWrite) area.current?.focus();
    setProblem("");
  }, [id]);
  useEffect(() => {
    const { current } = area;
    if (!current) return;
    current.style.height = "auto";
    current.style.height = `${current.scrollHeight}px`;
  }, [text]);
  const isEmpty = text.trim() === "" && attachments.length === 0;
  const send = () => {
    if (isEmpty || reading > 0 || run || !model) return;
    drafts.drop(place);
    session.send(text, attachments);
    setProblem("");
  };
  const add = async (files: readonly File[]) => {
    setProblem("");
    setReading((count) => count + 1);
    for (const file of files) {
      try {
        const attached = await attach(file, model);
        drafts.change(place, { attachments: [...drafts.of(place).attachments, attached] });
      } catch (error) {
        setProblem(messageOf(error));
      }
    }
    setReading((count) => count - 1);
  };
  const isOver = useDroppedFiles((files) => void add(files));
  return (
    <form
      class={`composer ${isOver ? "over" : ""}`}
      onSubmit={(event) => {
        event.preventDefault();
        send();
      }}
    >
      {conversation.leaf !== null && !model && <Trouble />}
      <Problem text={problem} />
      <Problem text={session.problem.value} />
      <Problem text={session.chats.whyUnstored(id)} />
      <div class="box">
        {attachments.length > 0 && (
          <Attachments
            attachments={attachments}
            onRemove={(at) => drafts.change(place, { attachments: attachments.toSpliced(at, 1) })}
          />
        )}
        <textarea
          ref={area}
          id="message"
          dir="auto"
          aria-label="Message"
          placeholder={model?.use === "image" ? "Describe an image" : `Message ${model?.id ?? ""}`}
          rows={1}
          value={text}
          onInput={({ currentTarget: { value } }) => drafts.change(place, { text: value })}
          onPaste={(event) => {
            const { files = [], types = [] } = event.clipboardData ?? {};
            // Office programs add a picture of the text that they copy.
            const isText = types.includes("text/plain") && types.includes("text/html");
            if (files.length === 0 || isText) return;
            // The text beside a copied file is its name.
            event.preventDefault();
            void add([...files]);
          }}
          onKeyDown={(event) => {
            if (event.key !== "Enter" || event.shiftKey || isComposing(event)) return;
            if (!mayWrite && !event.ctrlKey && !event.metaKey) return;
            event.preventDefault();
            send();
          }}
        />
        <div class="row">
          <Act
            icon="clip"
            label="Attach files"
            onClick={() => chooseFiles(acceptedBy(model), (files) => void add(files))}
          />
          <Context />
          {run ? (
            <Act icon="stop" class="primary" label="Stop" title="Stop (Esc)" onClick={() => session.stop()} />
          ) : (
            <Act
              icon="send"
              class="primary"
              label={reading > 0 ? "Reading files" : "Send"}
              title={reading > 0 ? "Reading files" : "Send (Enter)"}
              disabled={isEmpty || reading > 0 || !model}
            />
          )}
        </div>
      </div>
    </form>
  );
}

/** Shows how much of the context the conversation uses. */
function Context() {
  const { session } = usePage();
  const { model } = session;
  const used = contextUsed(pathOf(session.conversation.value));
  if (used === undefined || !model?.context || model.use === "image") return <span class="context" />;
  const share = Math.min(1, used / model.context);
  return (
    <span class="context" title="Tokens of the conversation, and the maximum of the model">
      <meter min={0} max={1} high={0.8} optimum={0} value={share} aria-label="Context used" />
      <span>
        {whole(used)} of {whole(model.context)} tokens
      </span>
    </span>
  );
}
