// Extracts reasoning that a server left at the start of the text, between `<think>` tags.

const OPEN = "<think>";
const CLOSE = "</think>";
/** Maximum number of blank characters before a tag. */
const MOST_BLANK = 1024;

interface SplitText {
  readonly reasoning: string;
  readonly text: string;
}

/** Takes reasoning out of a stream of text. Only the start of the text can be reasoning. */
export class ThinkTags {
  private state: "start" | "reasoning" | "after" | "text" = "start";
  private held = "";

  /** Returns the part that is certain by now; the rest is held back. */
  push(piece: string): SplitText {
    if (this.state === "text") return { reasoning: "", text: piece };
    this.held += piece;
    if (this.state === "start") {
      const begun = this.held.trimStart();
      if (this.held.length < MOST_BLANK && begun.length < OPEN.length && OPEN.startsWith(begun))
        return { reasoning: "", text: "" };
      if (!begun.startsWith(OPEN)) return { reasoning: "", text: this.release() };
      this.state = "reasoning";
      this.held = begun.slice(OPEN.length);
    }
    return this.state === "after" ? { reasoning: "", text: this.afterClose() } : this.inReasoning();
  }

  /** Returns the held text when the stream ends. */
  end(): SplitText {
    const isReasoning = this.state === "reasoning";
    const rest = this.release();
    return isReasoning ? { reasoning: rest, text: "" } : { reasoning: "", text: rest };
  }

  /** Whether something is held back that is text unless it becomes a tag. */
  get holdsText(): boolean {
    return this.state === "start" && this.held !== "";
  }

  private inReasoning(): SplitText {
    const end = this.held.indexOf(CLOSE);
    if (end >= 0) {
      const reasoning = this.held.slice(0, end);
      this.held = this.held.slice(end + CLOSE.length);
      this.state = "after";
      return { reasoning, text: this.afterClose() };
    }
    const kept = tailThatBegins(this.held, CLOSE);
    const reasoning = this.held.slice(0, this.held.length - kept);
    this.held = this.held.slice(this.held.length - kept);
    return { reasoning, text: "" };
  }

  /** Drops the blank lines between reasoning and answer. */
  private afterClose(): string {
    this.held = this.held.trimStart();
    return this.held === "" ? "" : this.release();
  }

  private release(): string {
    const rest = this.held;
    this.state = "text";
    this.held = "";
    return rest;
  }
}

/** Returns the length of the longest suffix of `text` that is a prefix of `tag`. */
function tailThatBegins(text: string, tag: string): number {
  for (let length = Math.min(tag.length - 1, text.length); length > 0; length--) {
    if (tag.startsWith(text.slice(-length))) return length;
  }
  return 0;
}
