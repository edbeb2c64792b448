// Fills the templates of released files.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError } from "../vendor/run.ts";

/** Returns the template of this name with each `{{name}}` replaced. Throws BuildError when a value is missing. */
export function fill(template: string, values: Readonly<Record<string, string | undefined>>): string {
  const text = readFileSync(join(import.meta.dir, "templates", template), "utf8");
  return text.replace(/\{\{([\w:-]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new BuildError(`${template} needs ${name}, and there is none.`);
    return value;
  });
}
