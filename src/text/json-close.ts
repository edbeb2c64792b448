// Completes a JSON text that was cut off.

import { jsonOf } from "../domain/json.ts";

/**
 * Returns the shortest plausible ending that makes `text` valid JSON: closes an open string, adds null for a key
 * without a value, closes brackets. Returns "" for a complete text, undefined when no ending helps.
 */
export function closeJson(text: string): string | undefined {
  if (jsonOf(text) !== undefined) return "";
  const open = scan(text);
  const ends = open.inString ? [`${escapeEnd(open.pending)}"`] : ["", "null", ...literalEnds(text)];
  const brackets = open.brackets.toReversed().join("");
  for (const end of ends) {
    for (const value of ["", ":null", "null"]) {
      const ending = end + value + brackets;
      if (jsonOf(text + ending) !== undefined) return ending;
    }
  }
  return undefined;
}

interface Open {
  /** Closing brackets for the open ones, outermost first. */
  readonly brackets: readonly string[];
  readonly inString: boolean;
  /** The incomplete escape sequence at the end of an open string, including the backslash. */
  readonly pending: string;
}

function scan(text: string): Open {
  const brackets: string[] = [];
  let inString = false;
  let pending = "";
  for (const character of text) {
    if (inString) {
      if (pending !== "") {
        pending += character;
        if (pending[1] !== "u" || pending.length === 6) pending = "";
      } else if (character === "\\") pending = character;
      else if (character === '"') inString = false;
    } else if (character === '"') inString = true;
    else if (character === "{") brackets.push("}");
    else if (character === "[") brackets.push("]");
    else if (character === "}" || character === "]") brackets.pop();
  }
  return { brackets, inString, pending };
}

/** Completes an escape sequence: a lone backslash escapes itself, a cut-off \uXXXX is filled with zeros. */
const escapeEnd = (pending: string): string =>
  pending === "" ? "" : pending === "\\" ? "\\" : "0".repeat(6 - pending.length);

/** So many characters that a word of them is no literal; a search in the whole text takes the square of its length. */
const LONGER_THAN_LITERALS = 6;

/** Returns possible endings of a literal or number that is cut off. */
function literalEnds(text: string): string[] {
  const word = /[a-z]+$/.exec(text.slice(-LONGER_THAN_LITERALS))?.[0];
  const literal = ["true", "false", "null"].find((one) => word !== undefined && one.startsWith(word));
  return literal && word ? [literal.slice(word.length)] : /[-+.eE]$/.test(text) ? ["0"] : [];
}
