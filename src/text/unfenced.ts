// Removes a Markdown code fence around an answer that must be JSON. Models that are only asked for JSON often write one.

import type { OutputEvent, TextEvent } from "../domain/generate.ts";
import type { TokenLogprob } from "../domain/usage.ts";

const OPENING = /^\s*```\w*[ \t]*(?:\r?\n|(?=[[{"]))/;
/** The beginning of an opening fence, as far as it goes. */
const PERHAPS_OPENING = /^\s*(?:`{0,2}|```\w*[ \t]*\r?)$/;
/** A closing fence on a line of its own: no string of JSON contains one, because strings have no line breaks. */
const CLOSING = /\n[ \t]{0,16}```/;
/** The end of a text that may belong to a closing fence. */
const PERHAPS_CLOSING = /\s*`{0,3}\s*$/;
/** Maximum characters held back because they may belong to a fence. */
const MOST_HELD = 40;

export class Unfenced {
  private state: "start" | "plain" | "fenced" | "closed" = "start";
  private held = "";
  private logprobs: readonly TokenLogprob[] = [];

  /**
   * Takes events of one answer, and returns them without the fence and what follows it. Text that may belong to a fence
   * is held back, until the end at the latest.
   */
  push(events: readonly OutputEvent[], isEnd = false): OutputEvent[] {
    const shown = events.flatMap((event): OutputEvent[] => {
      if (event.type === "text") return this.add(event);
      // Text before a call is complete.
      return event.type === "reasoning" ? [event] : [...this.end(), event];
    });
    return isEnd ? [...shown, ...this.end()] : shown;
  }

  private add(event: TextEvent): TextEvent[] {
    if (this.state === "plain") return [event];
    if (this.state === "closed") return [];
    const { text, logprobs = [] } = event;
    this.held += text;
    this.logprobs = [...this.logprobs, ...logprobs];
    if (this.state === "start") {
      const opening = OPENING.exec(this.held)?.[0];
      if (opening === undefined) {
        if (this.held.length <= MOST_HELD && PERHAPS_OPENING.test(this.held)) return [];
        this.state = "plain";
        return this.release();
      }
      this.state = "fenced";
      this.held = this.held.slice(opening.length);
      this.logprobs = this.held === "" ? [] : logprobs;
    }
    const closing = this.held.search(CLOSING);
    if (closing >= 0) {
      this.state = "closed";
      return this.release(closing);
    }
    const end = PERHAPS_CLOSING.exec(this.held.slice(-MOST_HELD))?.[0] ?? "";
    return this.release(this.held.length - end.length);
  }

  private end(): TextEvent[] {
    const isClosed = this.state === "closed" || (this.state === "fenced" && this.held.trim() === "```");
    this.state = isClosed ? "closed" : "plain";
    return this.release(isClosed ? 0 : undefined);
  }

  /** Returns the held text up to this length; log probabilities go with the text that is released next. */
  private release(length = this.held.length): TextEvent[] {
    const { logprobs } = this;
    const text = this.held.slice(0, length);
    this.held = this.held.slice(length);
    if (text === "") return [];
    this.logprobs = [];
    return [{ type: "text", text, ...(logprobs.length > 0 && { logprobs }) }];
  }
}
