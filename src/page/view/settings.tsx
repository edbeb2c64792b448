// Settings of the conversation, appearance and history.

import { useState } from "preact/hooks";
import { readTools } from "../logic/chat-request.ts";
import type { Settings } from "../logic/conversation.ts";
import { fromJson, toJson } from "../logic/export.ts";
import { messageOf } from "../state/api.ts";
import { chooseFiles, saveFile } from "./browser.ts";
import { usePage } from "./context.ts";
import { Dialog } from "./dialog.tsx";
import { Icon } from "./icons.tsx";
import { applyTheme, chosenTheme, type Theme } from "./theme.ts";

interface NumberSetting {
  readonly name: "temperature" | "top_p" | "top_k" | "min_p" | "max_tokens" | "seed";
  readonly label: string;
  readonly hint: string;
  readonly min: number;
  readonly max?: number;
  readonly step: number | "any";
}

const NUMBERS: readonly NumberSetting[] = [
  { name: "temperature", label: "Temperature", hint: "0: always the likeliest token", min: 0, max: 5, step: "any" },
  { name: "top_p", label: "Top P", hint: "total probability of the candidate tokens", min: 0, max: 1, step: "any" },
  { name: "top_k", label: "Top K", hint: "number of candidate tokens", min: 0, step: 1 },
  { name: "min_p", label: "Min P", hint: "minimum relative to the likeliest token", min: 0, max: 1, step: "any" },
  { name: "max_tokens", label: "Maximum tokens", hint: "length limit of answers", min: 1, step: 1 },
  { name: "seed", label: "Seed", hint: "the same seed repeats an answer", min: 0, step: 1 },
];

const EFFORTS = ["", "none", "low", "medium", "high"] as const;

interface FieldProps<Value> {
  readonly value: Value | undefined;
  readonly onChange: (value: Value | undefined) => void;
}

export function SettingsDialog({ onClose }: { readonly onClose: () => void }) {
  const { session } = usePage();
  const { settings } = session.conversation.value;
  const draws = session.model?.use === "image";
  // What was set for another model goes to this one, too. A field that is emptied stays until the dialog is closed.
  const [before] = useState(settings);
  const has = (capability: string, name: keyof Settings) =>
    !draws && (session.model?.capabilities.has(capability) || before[name] !== undefined);
  const set = (change: Partial<Record<keyof Settings, unknown>>) => {
    // Starts from the current settings, since fields may change before the dialog is rendered again.
    const all = Object.entries({ ...session.conversation.value.settings, ...change }).filter(
      ([, value]) => value !== undefined && value !== "",
    );
    session.setSettings(Object.fromEntries(all) as Settings);
  };
  return (
    <Dialog title="Settings" class="side" keepsInvalid onClose={onClose}>
      <section>
        <h3>This chat</h3>
        {!draws && <SystemField value={settings.system} onChange={(system) => set({ system })} />}
        <div class="grid">
          {draws && <SizeField value={settings.size} onChange={(size) => set({ size })} />}
          {NUMBERS.filter(({ name }) => !draws || name === "seed").map(({ name, ...field }) => (
            <NumberField key={name} {...field} value={settings[name]} onChange={(value) => set({ [name]: value })} />
          ))}
        </div>
        {has("reasoning", "reasoning_effort") && (
          <EffortField value={settings.reasoning_effort} onChange={(effort) => set({ reasoning_effort: effort })} />
        )}
        {has("tools", "tools") && <ToolsField value={settings.tools} onChange={(tools) => set({ tools })} />}
      </section>
      <Appearance />
      <HistorySection />
    </Dialog>
  );
}

const SystemField = ({ value, onChange }: FieldProps<string>) => (
  <label class="field">
    System prompt
    <textarea
      rows={4}
      placeholder="You are a helpful assistant."
      defaultValue={value}
      onChange={(event) => onChange(event.currentTarget.value)}
    />
  </label>
);

const SizeField = ({ value, onChange }: FieldProps<string>) => (
  <label class="field">
    Size
    <input
      pattern="\d+x\d+"
      placeholder="default"
      defaultValue={value}
      onChange={({ currentTarget: input }) => {
        if (input.reportValidity()) onChange(input.value);
      }}
    />
    <small>width and height in pixels: 512x512</small>
  </label>
);

const NumberField = ({ label, hint, value, onChange, ...range }: Omit<NumberSetting, "name"> & FieldProps<number>) => (
  <label class="field">
    {label}
    <input
      type="number"
      {...range}
      placeholder="default"
      defaultValue={value}
      onChange={({ currentTarget: input }) => {
        if (input.reportValidity()) onChange(Number.isNaN(input.valueAsNumber) ? undefined : input.valueAsNumber);
      }}
    />
    <small>{hint}</small>
  </label>
);

const EffortField = ({ value = "", onChange }: FieldProps<string>) => (
  <label class="field">
    Thinking
    <select value={value} onChange={(event) => onChange(event.currentTarget.value)}>
      {EFFORTS.map((effort) => (
        <option key={effort} value={effort}>
          {effort || "default"}
        </option>
      ))}
    </select>
  </label>
);

function ToolsField({ value = "", onChange }: FieldProps<string>) {
  const [problem, setProblem] = useState("");
  const check = (area: HTMLTextAreaElement) => area.setCustomValidity(problemOf(area.value));
  const change = (area: HTMLTextAreaElement) => {
    check(area);
    setProblem(area.validationMessage);
    if (area.validity.valid) onChange(area.value);
  };
  return (
    <label class="field">
      Tools
      <textarea
        rows={4}
        class="mono"
        spellcheck={false}
        placeholder='[{"name": "weather", "parameters": {"type": "object", "properties": {"city": {"type": "string"}}}}]'
        defaultValue={value}
        aria-invalid={problem !== ""}
        onInput={(event) => check(event.currentTarget)}
        onChange={(event) => change(event.currentTarget)}
      />
      {problem ? (
        <small class="error">{problem}</small>
      ) : (
        <small>Functions as JSON. The page shows the calls; you enter their results.</small>
      )}
    </label>
  );
}

/** Returns what is wrong with the tools; empty when nothing is. */
function problemOf(tools: string): string {
  try {
    if (tools.trim()) readTools(tools);
    return "";
  } catch (error) {
    return messageOf(error);
  }
}

function Appearance() {
  const { kept } = usePage();
  const [theme, setTheme] = useState(chosenTheme(kept));
  const choose = (chosen: Theme) => {
    applyTheme(kept, chosen);
    setTheme(chosen);
  };
  return (
    <section>
      <fieldset class="segments">
        <legend>Appearance</legend>
        {(["system", "light", "dark"] as const).map((one) => (
          <label key={one}>
            <input type="radio" name="theme" checked={theme === one} onChange={() => choose(one)} />
            <span>{one === "system" ? "System" : one === "light" ? "Light" : "Dark"}</span>
          </label>
        ))}
      </fieldset>
    </section>
  );
}

const counted = (count: number, what: string): string => `${count} ${what}${count === 1 ? "" : "s"}`;

function HistorySection() {
  const { session } = usePage();
  const [said, setSaid] = useState("");
  const importAll = async (files: readonly File[]) => {
    let count = 0;
    // One by one: all together may not fit into memory.
    for (const file of files) {
      const found = fromJson(await file.text());
      await session.chats.import(found);
      count += found.length;
    }
    return `${counted(count, "chat")} imported.`;
  };
  const exportAll = async () => {
    let count = 0;
    for await (const text of toJson(session.all())) {
      setSaid(`Saving file ${++count}…`);
      await saveFile(`svc-chats${count > 1 ? `-${count}` : ""}.json`, "application/json", text);
    }
    return `${counted(count, "file")} saved.`;
  };
  const say = (action: Promise<string | void>) => void action.catch(messageOf).then((end) => setSaid(end ?? ""));
  return (
    <section>
      <h3>History</h3>
      <p class="soft">
        {session.chats.areKept
          ? "Chats are stored only in this browser, not on the server."
          : "This window keeps no chats: export the shown one before you begin another or close the window."}
      </p>
      <div class="buttons start">
        <button type="button" onClick={() => say(exportAll())}>
          <Icon name="download" /> {session.chats.areKept ? "Export all" : "Export"}
        </button>
        <button
          type="button"
          disabled={!session.chats.areKept}
          onClick={() => chooseFiles(".json,application/json", (files) => say(importAll(files)))}
        >
          <Icon name="upload" /> Import
        </button>
        <button type="button" class="danger" onClick={() => confirm("Delete all chats?") && say(session.removeAll())}>
          <Icon name="trash" /> Delete all
        </button>
      </div>
      <p role="status" class="soft">
        {said}
      </p>
    </section>
  );
}
