// The drawn pages of the benchmark as files.

import { existsSync } from "node:fs";
import { join } from "node:path";
import { pythonWith } from "../../support/python.ts";
import { FONTS, type Job } from "./jobs.ts";
import { LANGUAGES } from "./languages.ts";

const HERE = import.meta.dir;

export interface Page extends Job {
  readonly file: string;
  /** The text of the page in reading order; empty for a page with a table. */
  readonly text: string;
}

/** Returns the requirements that are missing for drawing and reading pages; empty when all are there. */
export function missing(): string[] {
  const fonts = FONTS.flatMap(({ plain, bold }) => [plain, bold]).filter((font) => !existsSync(font));
  const han = Object.values(LANGUAGES).some((language) => language.fonts.some((font) => !existsSync(font)));
  const packages = [
    ...(fonts.length > 0 ? ["fonts-dejavu", "fonts-liberation", "fonts-noto-core"] : []),
    ...(han ? ["fonts-noto-cjk"] : []),
    ...(Bun.which("tesseract") === null ? ["tesseract-ocr"] : []),
    ...(Bun.which("python3") === null ? ["python3-venv"] : []),
  ];
  return packages.length > 0 ? [`apt install ${packages.join(" ")}`] : [];
}

/** Draws pages into a folder. Throws when Pillow cannot be installed or fails. */
export async function drawn(jobs: readonly Job[], folder: string): Promise<Page[]> {
  const programs = await pythonWith(join(HERE, "requirements.txt"), "pillow");
  const files = jobs.map(({ name }) => join(folder, `${name.replaceAll(" ", "-")}.png`));
  const lines = jobs.map(({ drawing }, at) => JSON.stringify({ ...drawing, file: files[at] }));
  const child = Bun.spawn([join(programs, "python"), join(HERE, "draw.py")], {
    stdin: Buffer.from(lines.join("\n")),
    stdout: "pipe",
    stderr: "inherit",
  });
  const texts = (await new Response(child.stdout).text()).trim().split("\n");
  if ((await child.exited) !== 0 || texts.length !== jobs.length) throw new Error("not all pages were drawn");
  return jobs.map((job, at) => ({ ...job, file: files[at] ?? "", text: JSON.parse(texts[at] ?? '""') as string }));
}
