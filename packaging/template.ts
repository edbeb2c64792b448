// Templates of files that are released, filled.

import { readFileSync } from "node:fs";
import { join } from "node:path";
import { BuildError } from "../vendor/run.ts";

/** The template of this name, with a value in the place of each `{{name}}`. Throws BuildError where there is none. */
export function fill(template: string, values: Readonly<Record<string, string | undefined>>): string {
  const text = readFileSync(join(import.meta.dir, "templates", template), "utf8");
  return text.replace(/\{\{([\w:-]+)\}\}/g, (_, name: string) => {
    const value = values[name];
    if (value === undefined) throw new BuildError(`${template} needs ${name}, and there is none.`);
    return value;
  });
}
