// State and actions of the page: the models, the shown conversation, all others, and the answers being generated.

import { batch, signal, type Signal } from "@preact/signals";
import type { ModelList } from "../../contract/model.ts";
import { ENDS, type Answer } from "../logic/answer.ts";
import * as tree from "../logic/conversation.ts";
import type { Attachment, Conversation, Settings, Turn } from "../logic/conversation.ts";
import { abilitiesOf, modelsOf, type Abilities, type Model } from "../logic/models.ts";
import { messageOf, type Api } from "./api.ts";
import { Chats } from "./chats.ts";
import { Drafts } from "./drafts.ts";
import type { Change } from "./history.ts";
import { Kept } from "./kept.ts";
import { OtherTabs } from "./other-tabs.ts";
import { Run } from "./run.ts";

/** Milliseconds between two times of storing a chat during an answer, since each reads and writes all its files. */
const SAVE_MS = { usual: 2000, large: 20_000 };
/** Number of characters of files and pictures from which a chat is large. */
const LARGE = 1_000_000;
const NO_MODEL = "The server has no model for chats or images. Start it with --model.";
const MODEL = "svc.model";
const SETTINGS = "svc.settings";
const ANSWERS = "svc.answers";

/** A chat, a turn in it, and what was written of that. */
type CutAnswer = readonly [string, string, Answer["turn"]];

export class Session {
  readonly models = signal<readonly Model[]>([]);
  readonly abilities = signal<Abilities>({ speech: false });
  /** Why there is no model, or why the list may be out of date; empty while it is loading or loaded. */
  readonly trouble = signal("");
  readonly modelId: Signal<string>;
  readonly conversation: Signal<Conversation>;
  readonly chats = new Chats();
  /** Answers being generated, by conversation. */
  readonly runs = signal<ReadonlyMap<string, Run>>(new Map());
  /** Why the chat that was chosen is not shown, or the one that was deleted is still there; empty when all is well. */
  readonly problem = signal("");
  /** Text that screen readers announce. */
  readonly announcement = signal("");
  readonly drafts = new Drafts();
  readonly otherTabs = new OtherTabs();
  /** The conversation that was last chosen; it is shown once it is read. Empty: a new one. */
  private wanted = "";

  constructor(
    private readonly api: Api,
    private readonly kept = new Kept("localStorage"),
    private readonly tab = new Kept("sessionStorage"),
  ) {
    this.modelId = signal(kept.get(MODEL) ?? "");
    this.conversation = signal(this.fresh());
  }

  get model(): Model | undefined {
    const models = this.models.value;
    return models.find(({ id }) => id === this.modelId.value) ?? models[0];
  }

  get run(): Run | undefined {
    return this.runs.value.get(this.conversation.value.id);
  }

  /** Follows what another tab did. */
  async changedElsewhere({ id, summary, writing }: Change): Promise<void> {
    if (summary) {
      this.otherTabs.note(summary.id, writing);
      await this.reread(summary.id);
      return this.chats.relist(summary);
    }
    if (id === undefined) this.dropAll();
    else this.drop(id);
    this.drafts.forget(id);
    if (id === undefined || id === this.conversation.value.id) this.leave();
    await this.chats.removedElsewhere(id);
  }

  /** Takes what is stored of a conversation that is shown or being answered here. */
  private async reread(id: string): Promise<void> {
    if (id !== this.conversation.value.id && !this.runs.value.has(id)) return;
    const found = await this.chats.read(id);
    if (!found) return;
    const run = this.runs.value.get(id);
    const shown = this.conversation.value;
    const isShown = id === shown.id;
    if (!run && !isShown) return;
    // Turns may have been added here while it was read.
    const merged = run ? tree.mergedWith(run.current, found) : tree.mergedWith(found, shown);
    // Each tab shows the branch that was chosen in it, which may go on in the other.
    const current = run || shown.leaf === null ? merged : tree.showBranch(merged, shown.leaf);
    if (run) run.current = current;
    if (isShown) this.conversation.value = current;
  }

  async loadModels(): Promise<void> {
    try {
      const list = await this.api.json<ModelList>("/v1/models");
      batch(() => {
        this.models.value = modelsOf(list);
        this.abilities.value = abilitiesOf(list);
        this.trouble.value = this.models.value.length > 0 ? "" : NO_MODEL;
      });
    } catch (error) {
      this.trouble.value = messageOf(error);
    }
  }

  chooseModel(id: string): void {
    this.modelId.value = id;
    this.kept.set(MODEL, id);
  }

  /** Shows an empty conversation with the last used settings. */
  begin(): void {
    this.wanted = "";
    this.problem.value = "";
    this.leave();
  }

  /**
   * Shows a stored conversation, unless another one is shown or begun while it is read. Resolves with false when there is
   * none with this id.
   */
  async show(id: string): Promise<boolean> {
    this.wanted = id;
    this.problem.value = "";
    if (id === this.conversation.value.id) return true;
    try {
      const here = this.runs.value.get(id)?.current ?? this.chats.newest(id);
      const found = here ?? (await this.chats.read(id));
      if (this.wanted !== id) return true;
      if (found) this.conversation.value = found;
      return found !== undefined;
    } catch (error) {
      if (this.wanted !== id) return true;
      this.leave();
      this.problem.value = `The chat cannot be read: ${messageOf(error)}`;
      return true;
    }
  }

  /** Sends a message at the end of the shown branch. */
  send(text: string, attachments: readonly Attachment[] = []): void {
    const { leaf } = this.conversation.value;
    this.ask({ parent: leaf, role: "user", text, ...(attachments.length > 0 && { attachments }) });
  }

  /** Adds a branch in place of a turn: a user's turn is sent again, an answer only gets the other text. */
  edit(turn: Turn, text: string, attachments: readonly Attachment[] = turn.attachments ?? []): void {
    const { parent, role, model } = turn;
    const attached = attachments.length > 0 && { attachments };
    const changed = { parent, role, text, ...attached, ...(model !== undefined && { model }) };
    if (role === "user") this.ask(changed);
    else this.change((conversation) => tree.addTurn(conversation, newTurn({ ...changed, finish: "edited" })));
  }

  /** Adds the results of a turn's tool calls and lets the model continue. */
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

  /** Requests another answer as a sibling of this one. */
  regenerate({ parent }: Turn): void {
    if (parent !== null) void this.answer(parent);
  }

  showBranch(id: string): void {
    this.change((conversation) => tree.showBranch(conversation, id));
  }

  fork(turn: Turn): void {
    const copy = tree.fork(this.conversation.value, turn.id, newId(), Date.now());
    this.wanted = copy.id;
    this.conversation.value = copy;
    void this.store(copy);
  }

  stop(): void {
    this.run?.abort.abort();
  }

  /** Stores all answers so far, also for the case that the tab has no time to do it. */
  keepAnswers(): void {
    if (this.runs.value.size === 0 || !this.chats.areKept) return;
    const answers = Array.from(this.runs.value, ([id, run]): CutAnswer => [id, run.turn, run.answer.value.turn]);
    this.tab.set(ANSWERS, JSON.stringify(answers));
    for (const [id, run] of this.runs.value) void this.keep(id, run);
  }

  /** Stores what this tab had of its answers before it was reloaded. */
  async restoreAnswers(): Promise<void> {
    const answers = this.cutAnswers();
    this.tab.set(ANSWERS, "[]");
    for (const [id, turn, answer] of answers) {
      const chat = await this.chats.read(id);
      const stored = chat?.turns[turn];
      if (!chat || !stored) continue;
      // It may have gone on, or in a copy of the tab still do so.
      const isNewer = stored.finish === undefined && sizeOf({ ...stored, ...answer }) > sizeOf(stored);
      if (isNewer) await this.chats.put(tree.changeTurn(chat, turn, answer));
    }
  }

  private cutAnswers(): readonly CutAnswer[] {
    return JSON.parse(this.tab.get(ANSWERS) ?? "[]") as readonly CutAnswer[];
  }

  setSettings(settings: Settings): void {
    this.change((conversation) => tree.edited(conversation, { settings }, Date.now()));
    this.kept.set(SETTINGS, JSON.stringify(settings));
  }

  rename(title: string): void {
    this.change((conversation) => tree.edited(conversation, { title }, Date.now()));
  }

  async remove(id: string): Promise<void> {
    this.drop(id);
    this.drafts.forget(id);
    if (this.conversation.value.id === id) this.leave();
    try {
      await this.chats.remove(id);
    } catch (error) {
      this.problem.value = `The chat cannot be deleted: ${messageOf(error)}`;
    }
  }

  async removeAll(): Promise<void> {
    this.dropAll();
    this.drafts.forget();
    this.leave();
    await this.chats.remove();
  }

  /** Yields all chats; without a database, the shown one. */
  async *all(): AsyncGenerator<Conversation> {
    const shown = this.conversation.value;
    if (this.chats.areKept) yield* this.chats.all();
    else if (shown.leaf !== null) yield shown;
  }

  private ask(turn: NewTurn): void {
    if (this.run || !this.model) return;
    this.problem.value = "";
    // The first line may be indented, as in code.
    const text = turn.text.replace(/^\s*\n/, "").trimEnd();
    const question = newTurn({ ...turn, text });
    this.change((conversation) => tree.addTurn(conversation, question));
    void this.answer(question.id);
  }

  /** Lets the model generate the turn that follows `parent`. */
  private async answer(parent: string): Promise<void> {
    const { model } = this;
    if (!model || this.run) return;
    const turn = newTurn({ parent, role: "assistant", text: "", model: model.id });
    const { id } = this.conversation.value;
    const run = new Run(this.conversation.value, turn.id);
    this.runs.value = new Map(this.runs.value).set(id, run);
    this.change((conversation) => tree.addTurn(conversation, turn));
    this.announcement.value = "Writing an answer.";
    const pace = tree.mediaLength(run.current) > LARGE ? SAVE_MS.large : SAVE_MS.usual;
    const saving = setInterval(() => void this.keep(id, run), pace);
    const end = await run.write(this.api, parent, model);
    clearInterval(saving);
    if (this.runs.value.get(id) !== run) return;
    const stored = batch(() => {
      const storing = this.keep(id, run, end);
      this.forget(id);
      this.announcement.value = announcementOf(end);
      return storing;
    });
    // A reload ends it first, and leaves no time to store it: until then, the tab keeps it.
    await stored;
    if (!this.runs.value.has(id)) this.discard(id);
    // The model's context length may be known only after it was loaded.
    await this.loadModels();
  }

  /** Stores an answer so far, and how it ended. */
  private async keep(id: string, run: Run, end: Partial<Turn> = {}): Promise<void> {
    // Storing a turn of a conversation that was removed meanwhile would restore the conversation.
    if (this.runs.value.get(id) !== run) return;
    await this.update(id, (one) => tree.changeTurn(one, run.turn, { ...run.answer.value.turn, ...end }));
  }

  /** Aborts the answer in a conversation, and discards what it would still write and what was kept of it. */
  private drop(id: string): void {
    this.runs.value.get(id)?.abort.abort();
    this.forget(id);
    this.discard(id);
  }

  private discard(id: string): void {
    this.tab.set(ANSWERS, JSON.stringify(this.cutAnswers().filter(([chat]) => chat !== id)));
  }

  private dropAll(): void {
    for (const id of this.runs.value.keys()) this.drop(id);
    this.tab.set(ANSWERS, "[]");
  }

  private forget(id: string): void {
    const runs = new Map(this.runs.value);
    runs.delete(id);
    this.runs.value = runs;
  }

  /** Changes the shown conversation. */
  private change(change: (conversation: Conversation) => Conversation): void {
    void this.update(this.conversation.value.id, change);
  }

  private async update(id: string, change: (conversation: Conversation) => Conversation): Promise<void> {
    const run = this.runs.value.get(id);
    const shown = this.conversation.value.id === id ? this.conversation.value : run?.current;
    // The conversation was removed meanwhile.
    if (!shown) return;
    const changed = change(shown);
    if (run) run.current = changed;
    if (this.conversation.value.id === id) this.conversation.value = changed;
    // An empty conversation is not stored.
    if (changed.leaf !== null) await this.store(changed);
  }

  private store(conversation: Conversation): Promise<void> {
    const turn = this.runs.value.get(conversation.id)?.turn ?? "";
    const isWriting = conversation.turns[turn] && conversation.turns[turn].finish === undefined;
    return this.chats.put(conversation, isWriting ? turn : undefined);
  }

  /** Shows an empty conversation until the chosen one, if any, is read. */
  private leave(): void {
    this.conversation.value = this.fresh();
  }

  private fresh(): Conversation {
    return tree.newConversation(newId(), Date.now(), this.lastSettings());
  }

  private lastSettings(): Settings {
    try {
      return JSON.parse(this.kept.get(SETTINGS) ?? "{}") as Settings;
    } catch {
      return {};
    }
  }
}

type NewTurn = Omit<Turn, "id" | "createdAt">;

const newTurn = (turn: NewTurn): Turn => ({ ...turn, id: newId(), createdAt: Date.now() });

/** Returns how much a turn has: text, reasoning, tool calls, images, and how it ended. */
const sizeOf = (turn: Turn): number => JSON.stringify(turn).length;

/** Says how an answer ended. */
function announcementOf({ finish = "", error }: Partial<Turn>): string {
  if (error) return `The answer failed. ${error}`;
  return finish in ENDS ? `The answer was ${ENDS[finish]}.` : "The answer is complete.";
}

/** Returns a unique id; unlike `crypto.randomUUID`, it also works on pages loaded over plain HTTP. */
const newId = (): string =>
  Array.from(crypto.getRandomValues(new Uint8Array(12)), (byte) => byte.toString(16).padStart(2, "0")).join("");
