import { fault } from "./fault.ts";
import { MAX_CHARACTERS, MAX_JSON_DEPTH, MAX_NODES } from "./limits.ts";

/** What is true of the whole text of a schema: its size, and that it has a JSON form. Returns its values. Throws SvcError. */
export function checkSize(schema: unknown, param: string): number {
  let [count, characters] = [0, 0];
  const open: { value: unknown; depth: number }[] = [{ value: schema, depth: 1 }];
  const checkText = (text: string) => {
    characters += text.length;
    if (characters > MAX_CHARACTERS) throw fault(param, "", `its strings have more than ${MAX_CHARACTERS} characters`);
    if (!text.isWellFormed()) throw fault(param, "", "it holds half a surrogate pair");
  };
  for (let next = open.pop(); next; next = open.pop()) {
    const { value, depth } = next;
    if (++count > MAX_NODES) throw fault(param, "", `it has more than ${MAX_NODES} values`);
    if (typeof value === "string") checkText(value);
    if (typeof value === "number" && !Number.isFinite(value)) throw fault(param, "", "a number in it is out of range");
    if (typeof value !== "object" || value === null) continue;
    if (depth > MAX_JSON_DEPTH) throw fault(param, "", `it is nested deeper than ${MAX_JSON_DEPTH} levels`);
    if (!Array.isArray(value)) Object.keys(value).forEach(checkText);
    for (const item of Object.values(value)) open.push({ value: item, depth: depth + 1 });
  }
  return count;
}
