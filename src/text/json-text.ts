// Turns JSON as models write it into strict JSON while it arrives.

/** Escapes control characters in strings and drops trailing commas: holds a comma until another item follows. */
export class JsonText {
  private inString = false;
  private escaped = false;
  private held = "";

  /** Takes a piece of the text; returns the text that is certain so far. */
  push(piece: string): string {
    let out = "";
    for (const character of piece) {
      if (this.inString) {
        out += character < " " ? JSON.stringify(character).slice(1, -1) : character;
        if (this.escaped) this.escaped = false;
        else if (character === "\\") this.escaped = true;
        else if (character === '"') this.inString = false;
      } else if (character === "," || (this.held !== "" && /\s/.test(character))) {
        this.held += character;
      } else {
        out += (character === "}" || character === "]" ? "" : this.held) + character;
        this.held = "";
        this.inString = character === '"';
      }
    }
    return out;
  }
}
