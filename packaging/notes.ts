// The notes of a release: the section of CHANGELOG.md about its version.

import { BuildError } from "../vendor/run.ts";

/**
 * Returns the text below the heading `## VERSION`, behind which a date may follow. Throws BuildError when there is no such
 * section, or nothing in it.
 */
export function notesOf(changelog: string, version: string): string {
  const [, ...sections] = changelog.split(/^## /m);
  const own = sections.find((section) => /^\S*/.exec(section)?.[0] === version);
  const [, ...lines] = own?.split("\n") ?? [];
  const notes = lines.join("\n").trim();
  if (notes !== "") return notes;
  throw new BuildError(
    `CHANGELOG.md has no section about ${version}, and a release's notes are that section. Name it "## ${version}" instead of "## Unreleased".`,
  );
}
