// What the page shows and does: the models, the shown conversation, the list of all, and the answers that are being written.

import { batch, signal, type Signal } from "@preact/signals";
import type { ModelList } from "../../contract/model.ts";
import { noAnswer, turnOf, type Answer } from "../logic/answer.ts";
import * as tree from "../logic/conversation.ts";
import type { Attachment, Conversation, Settings, Turn } from "../logic/conversation.ts";
import { abilitiesOf, modelsOf, type Abilities, type Model } from "../logic/models.ts";
import { writeAnswer } from "./answering.ts";
import { messageOf, type Api } from "./api.ts";
import type { History, Summary } from "./history.ts";

/** An answer that is being written. */
export interface Run {
  readonly conversation: string;
  readonly turn: string;
  readonly answer: Signal<Answer>;
  readonly images: Signal<readonly string[]>;
  readonly abort: AbortController;
}

/** Where conversations are kept. */
type Kept = Pick<History, keyof History>;

const SAVE_MS = 2000;
const MODEL = "svc.model";
const SETTINGS = "svc.settings";

export class Session {
  readonly models = signal<readonly Model[]>([]);
  readonly abilities = signal<Abilities>({ speech: false, images: false });
  /** Why the models are not known; empty: they are, or are on their way. */
  readonly trouble = signal("");
  readonly modelId = signal(localStorage.getItem(MODEL) ?? "");
  readonly conversation: Signal<Conversation>;
  readonly summaries = signal<readonly Summary[]>([]);
  /** By conversation. */
  readonly runs = signal<ReadonlyMap<string, Run>>(new Map());
  /** Why the chat could not be stored; empty: it was. */
  readonly unsaved = signal("");
  /** What screen readers say. */
  readonly announcement = signal("");
  private history: Kept | undefined;
  /** Conversations of runs, shown or not. */
  private readonly busy = new Map<string, Conversation>();

  constructor(private readonly api: Api) {
    this.conversation = signal(this.fresh());
  }

  get model(): Model | undefined {
    const models = this.models.value;
    return models.find(({ id }) => id === this.modelId.value) ?? models[0];
  }

  get run(): Run | undefined {
    return this.runs.value.get(this.conversation.value.id);
  }

  async useHistory(history: Kept): Promise<void> {
    this.history = history;
    await this.list();
  }

  async list(): Promise<void> {
    if (this.history) this.summaries.value = await this.history.list();
  }

  async loadModels(): Promise<void> {
    try {
      const list = await this.api.json<ModelList>("/v1/models");
      batch(() => {
        this.models.value = modelsOf(list);
        this.abilities.value = abilitiesOf(list);
        this.trouble.value = "";
      });
    } catch (error) {
      this.trouble.value = messageOf(error);
    }
  }

  chooseModel(id: string): void {
    localStorage.setItem(MODEL, id);
    this.modelId.value = id;
  }

  /** Begins an empty conversation, with the settings of the one before. */
  begin(): void {
    this.conversation.value = this.fresh();
  }

  /** Shows a stored conversation; false where there is none of this id. */
  async show(id: string): Promise<boolean> {
    if (id === this.conversation.value.id) return true;
    const found = this.busy.get(id) ?? (await this.history?.get(id));
    if (found) this.conversation.value = found;
    return found !== undefined;
  }

  /** Asks, at the end of what is shown. */
  send(text: string, attachments: readonly Attachment[] = []): void {
    const { leaf } = this.conversation.value;
    this.ask({ parent: leaf, role: "user", text, ...(attachments.length > 0 && { attachments }) });
  }

  /** Asks anew in the place of a turn: a branch beside it. Of an answer, the text alone becomes another. */
  edit(turn: Turn, text: string): void {
    const { parent, role, attachments, model } = turn;
    const changed = { parent, role, text, ...(attachments && { attachments }), ...(model !== undefined && { model }) };
    if (role === "user") this.ask(changed);
    else this.change((conversation) => tree.addTurn(conversation, newTurn({ ...changed, finish: "edited" })));
  }

  /** Answers the calls of a turn with what their functions gave, and has the model go on. */
  answerCalls(turn: Turn, results: readonly string[]): void {
    if (this.run) return;
    let parent = turn.id;
    for (const [index, { id }] of (turn.toolCalls ?? []).entries()) {
      const result = newTurn({ parent, role: "tool", text: results[index] ?? "", toolCallId: id });
      this.change((conversation) => tree.addTurn(conversation, result));
      parent = result.id;
    }
    void this.answer(parent);
  }

  /** Another answer beside this one. */
  regenerate({ parent }: Turn): void {
    if (parent !== null) void this.answer(parent);
  }

  showBranch(id: string): void {
    this.change((conversation) => tree.showBranch(conversation, id));
  }

  fork(turn: Turn): void {
    const copy = tree.fork(this.conversation.value, turn.id, newId(), Date.now());
    this.conversation.value = copy;
    this.store(copy);
  }

  stop(): void {
    this.run?.abort.abort();
  }

  setSettings(settings: Settings): void {
    localStorage.setItem(SETTINGS, JSON.stringify(settings));
    this.change((conversation) => ({ ...conversation, settings }));
  }

  rename(title: string): void {
    this.change((conversation) => ({ ...conversation, title }));
  }

  async remove(id: string): Promise<void> {
    this.drop(id);
    if (this.conversation.value.id === id) this.begin();
    await this.history?.remove(id);
    await this.list();
  }

  async removeAll(): Promise<void> {
    for (const id of this.runs.value.keys()) this.drop(id);
    this.begin();
    await this.history?.clear();
    await this.list();
  }

  async all(): Promise<Conversation[]> {
    return (await this.history?.all()) ?? [];
  }

  async import(conversations: readonly Conversation[]): Promise<void> {
    for (const one of conversations) await this.history?.put(one);
    await this.list();
  }

  private ask(turn: NewTurn): void {
    if (this.run || !this.model) return;
    const asked = newTurn(turn);
    this.change((conversation) => tree.addTurn(conversation, asked));
    void this.answer(asked.id);
  }

  /** Has the model write the turn that follows `parent`. */
  private async answer(parent: string): Promise<void> {
    const { model } = this;
    if (!model || this.run) return;
    const turn = newTurn({ parent, role: "assistant", text: "", model: model.id });
    this.change((conversation) => tree.addTurn(conversation, turn));
    const conversation = this.conversation.value;
    const { id } = conversation;
    const run: Run = {
      conversation: id,
      turn: turn.id,
      answer: signal(noAnswer),
      images: signal([]),
      abort: new AbortController(),
    };
    this.busy.set(id, conversation);
    this.runs.value = new Map(this.runs.value).set(id, run);
    this.announcement.value = "Writing an answer.";
    // What would be kept of a conversation that was removed would bring it back.
    const isWanted = () => this.runs.value.get(id) === run;
    const keep = (change: Partial<Turn>) => {
      if (isWanted()) this.update(id, (one) => tree.changeTurn(one, turn.id, change));
    };
    const saving = setInterval(() => keep(turnOf(run.answer.value)), SAVE_MS);
    const end = await this.write(run, conversation, parent, model);
    clearInterval(saving);
    const images = run.images.value;
    if (!isWanted()) return;
    batch(() => {
      keep({ ...turnOf(run.answer.value), ...(images.length > 0 && { images }), ...end });
      this.drop(id);
      this.announcement.value = end.error ? `The answer failed. ${end.error}` : "The answer is complete.";
    });
    // How long its context is may only be known now.
    await this.loadModels();
  }

  /** Ends what is being written in a conversation: nothing more of it is kept. */
  private drop(id: string): void {
    const runs = new Map(this.runs.value);
    runs.get(id)?.abort.abort();
    runs.delete(id);
    this.runs.value = runs;
    this.busy.delete(id);
  }

  /** Writes the answer; resolves with how it ended, whatever that is. */
  private async write(run: Run, conversation: Conversation, parent: string, model: Model): Promise<Partial<Turn>> {
    // Many chunks may come between two pictures of the screen.
    let newest = noAnswer;
    let isDue = false;
    const show = () => {
      isDue = false;
      run.answer.value = newest;
    };
    const put = (answer: Answer) => {
      newest = answer;
      if (isDue) return;
      isDue = true;
      setTimeout(show, newest.text.length > 20_000 ? 200 : 40);
    };
    try {
      const path = tree.pathOf(conversation, parent);
      await writeAnswer(
        this.api,
        { path, settings: conversation.settings, model, signal: run.abort.signal },
        {
          put,
          images: (urls) => void (run.images.value = urls),
        },
      );
      return { finish: newest.finish ?? "stop", ...(newest.error && { error: newest.error }) };
    } catch (error) {
      if (run.abort.signal.aborted) return { finish: "stopped" };
      return { finish: "error", error: messageOf(error) };
    } finally {
      show();
    }
  }

  /** Changes what is shown. */
  private change(change: (conversation: Conversation) => Conversation): void {
    this.update(this.conversation.value.id, change);
  }

  private update(id: string, change: (conversation: Conversation) => Conversation): void {
    const shown = this.conversation.value.id === id ? this.conversation.value : this.busy.get(id);
    // It was removed meanwhile.
    if (!shown) return;
    const changed = change(shown);
    if (this.busy.has(id)) this.busy.set(id, changed);
    if (this.conversation.value.id === id) this.conversation.value = changed;
    // One without a turn is not worth keeping.
    if (changed.leaf !== null) this.store(changed);
  }

  private store(conversation: Conversation): void {
    void this.save(conversation).catch((error: unknown) => {
      this.unsaved.value = `This chat is not stored: ${messageOf(error)}`;
    });
  }

  private async save(conversation: Conversation): Promise<void> {
    await this.history?.put(conversation);
    this.unsaved.value = "";
    await this.list();
  }

  private fresh(): Conversation {
    return tree.newConversation(newId(), Date.now(), lastSettings());
  }
}

type NewTurn = Omit<Turn, "id" | "createdAt">;

const newTurn = (turn: NewTurn): Turn => ({ ...turn, id: newId(), createdAt: Date.now() });

function lastSettings(): Settings {
  try {
    return JSON.parse(localStorage.getItem(SETTINGS) ?? "{}") as Settings;
  } catch {
    return {};
  }
}

/** A name that no other thing has; unlike `crypto.randomUUID` also on pages that came over plain HTTP from another machine. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
