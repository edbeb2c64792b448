// An answer that is being generated.

import { signal } from "@preact/signals";
import { noAnswer, type Answer } from "../logic/answer.ts";
import { pathOf, type Conversation, type Turn } from "../logic/conversation.ts";
import type { Model } from "../logic/models.ts";
import { writeAnswer } from "./answering.ts";
import { messageOf, type Api } from "./api.ts";

export class Run {
  readonly answer = signal(noAnswer);
  readonly abort = new AbortController();

  /** `current`: its conversation, shown or not, as it is now. `turn`: the id of its turn. */
  constructor(
    public current: Conversation,
    readonly turn: string,
  ) {}

  /** Requests the answer that follows the turn `parent`; resolves with how it ended, also after a failure. */
  async write(api: Api, parent: string, model: Model): Promise<Partial<Turn>> {
    // Many chunks may arrive between two frames, so the page is updated at intervals.
    let newest = noAnswer;
    let isDue = false;
    const show = () => {
      isDue = false;
      this.answer.value = newest;
    };
    const put = (answer: Answer) => {
      newest = answer;
      if (isDue) return;
      isDue = true;
      const { text, reasoning = "" } = newest.turn;
      setTimeout(show, text.length + reasoning.length > 20_000 ? 200 : 40);
    };
    const { current, abort } = this;
    try {
      const { settings } = current;
      await writeAnswer(api, { path: pathOf(current, parent), settings, model, signal: abort.signal }, put);
      // A server that is stopped cancels its answers, takes no further requests, and does not say so.
      const { finish = "stop", error } = newest.turn;
      if (finish === "cancelled" && !(await api.isReachable())) throw new Error("The server was stopped.");
      return { finish, ...(error && { error }) };
    } catch (error) {
      if (abort.signal.aborted) return { finish: "stopped" };
      return { finish: "error", error: messageOf(error) };
    } finally {
      show();
    }
  }
}
