// `bun test/bench/recognition.ts`: text and tables on drawn pages, through /v1/vision/ocr, compared with Debian's
// `tesseract` on the same pages with the same trained data (its own package has smaller data). Prints Markdown rows.
// Needs `bun build.ts bench`, Python 3, and Debian's tesseract-ocr and fonts (it prints which).
//   --every N (1)   only every Nth page of each group
//   --only WORD     groups whose name contains the word; those of other languages are "language deu" and so on
//   --ppocr         Chinese and Japanese with PP-OCRv5
//   --pages FOLDER  keep the pages and wrong results in this folder

import { mkdirSync, mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { availableParallelism, tmpdir } from "node:os";
import { basename, dirname, join } from "node:path";
import { parseArgs } from "node:util";
import { withServer } from "../support/server.ts";
import { buildEnglishData } from "../../vendor/tessdata-eng.ts";
import { languageJobs, pageJobs, tableJobs } from "./recognition/jobs.ts";
import { languageData, ppocrFiles } from "./recognition/languages.ts";
import { drawn, missing, type Page } from "./recognition/pages.ts";
import { letterErrors, rightCells } from "./recognition/score.ts";

const text = { type: "string" } as const;
const { values } = parseArgs({ options: { every: text, only: text, pages: text, ppocr: { type: "boolean" } } });

const needed = missing();
if (needed.length > 0) {
  console.error(`Needed first: ${needed.join("; ")}`);
  process.exit(1);
}

const folder = values.pages ?? mkdtempSync(join(tmpdir(), "svc-recognition-"));
mkdirSync(folder, { recursive: true });

const cores = availableParallelism();
const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(" | ")} |`);
const LINE = Array.from({ length: 6 }, () => "---");
const percent = (part: number, of: number) => `${((100 * part) / Math.max(1, of)).toFixed(2)} %`;

interface Answer {
  readonly documents: readonly { readonly text: string; readonly tables: readonly { readonly rows: string[][] }[] }[];
}

async function ask(
  url: string,
  { file, group, rows, language }: Page,
  level: "accurate" | "fast" = "accurate",
): Promise<Answer["documents"][number]> {
  const body = new FormData();
  body.append("recognition_level", level);
  body.append("file", Bun.file(file), basename(file));
  if (rows) body.append("mode", "table");
  if (language !== undefined) body.append("languages", language);
  if (group === "photographed") body.append("auto_crop", "true");
  const response = await fetch(`${url}/v1/vision/ocr`, { method: "POST", body });
  // No text and no tables also count as a result, though a bad one.
  if (response.status === 422) return { text: "", tables: [] };
  if (!response.ok) throw new Error(await response.text());
  const [document] = ((await response.json()) as Answer).documents;
  return document ?? { text: "", tables: [] };
}

/** The folder of the trained data for both programs. */
const trained = dirname(await buildEnglishData());
const models = join(folder, "models");
const downloaded = join(models, "tessdata");

async function program({ file, language }: Page, env: Readonly<Record<string, string>> = {}): Promise<string> {
  const data = language === undefined ? trained : downloaded;
  const command = ["tesseract", file, "-", "-l", language ?? "eng", "--tessdata-dir", data];
  const child = Bun.spawn(command, { env: { ...process.env, ...env }, stdout: "pipe", stderr: "ignore" });
  return new Response(child.stdout).text();
}

async function timed<T>(work: () => Promise<T>): Promise<[T, number]> {
  const started = performance.now();
  return [await work(), (performance.now() - started) / 1000];
}

const kept = (page: Page, read: string) => {
  if (values.pages !== undefined) writeFileSync(page.file.replace(".png", ".txt"), `${page.text}\n---\n${read}\n`);
};

async function textGroup(url: string, name: string, pages: readonly Page[]): Promise<void> {
  const sums = { ours: 0, theirs: 0, letters: 0, ourTime: 0, theirTime: 0 };
  for (const page of pages) {
    const [{ text: read }, ourTime] = await timed(() => ask(url, page));
    const [other, theirTime] = await timed(() => program(page));
    const { errors, letters } = letterErrors(page.text, read);
    if (errors > 0) kept(page, read);
    sums.ours += errors;
    sums.theirs += letterErrors(page.text, other).errors;
    sums.letters += letters;
    sums.ourTime += ourTime;
    sums.theirTime += theirTime;
  }
  const each = (seconds: number) => (seconds / pages.length).toFixed(2);
  const wrong = [percent(sums.ours, sums.letters), percent(sums.theirs, sums.letters)];
  row(name, pages.length, ...wrong, each(sums.ourTime), each(sums.theirTime));
}

/** Runs `work` for all pages, `count` at a time. */
async function atOnce(count: number, pages: readonly Page[], work: (page: Page) => Promise<unknown>): Promise<void> {
  const queue = pages.values();
  const next = async () => {
    for (const page of queue) await work(page);
  };
  await Promise.all(Array.from({ length: count }, next));
}

/**
 * Measures pages per minute, each program with all cores: tesseract's threads within a page, or one page per core,
 * whichever is faster. svc's fast level reads pages as they are, like tesseract; the accurate one enlarges small letters.
 */
async function speed(url: string, pages: readonly Page[]): Promise<void> {
  const perMinute = async (count: number, work: (page: Page) => Promise<unknown>) => {
    const [, seconds] = await timed(() => atOnce(count, pages, work));
    return (60 * pages.length) / seconds;
  };
  if (pages[0]) await ask(url, pages[0]);
  const wrong = { errors: 0, letters: 0 };
  const fast = await perMinute(2 * cores, async (page) => {
    const { errors, letters } = letterErrors(page.text, (await ask(url, page, "fast")).text);
    wrong.errors += errors;
    wrong.letters += letters;
  });
  const ours = await perMinute(2 * cores, (page) => ask(url, page));
  const threads = await perMinute(1, (page) => program(page));
  const sideBySide = await perMinute(cores, (page) => program(page, { OMP_THREAD_LIMIT: "1" }));
  const theirs = Math.max(threads, sideBySide);
  const line = (name: string, own: number) =>
    row(name, pages.length, own.toFixed(0), threads.toFixed(0), sideBySide.toFixed(0), (own / theirs).toFixed(2));
  line("pages a minute", ours);
  line(`the same, fast (${percent(wrong.errors, wrong.letters)} wrong letters)`, fast);
}

async function tableGroup(url: string, name: string, pages: readonly Page[]): Promise<void> {
  const sums = { right: 0, cells: 0, tables: 0, time: 0 };
  for (const page of pages) {
    const [{ tables }, time] = await timed(() => ask(url, page));
    const found = tables.map(({ rows }) => rows);
    const { right, cells } = rightCells(page.rows ?? [], found);
    if (right < cells) kept(page, found.map((rows) => rows.map((cells) => cells.join(" | ")).join("\n")).join("\n\n"));
    sums.right += right;
    sums.cells += cells;
    sums.tables += tables.length;
    sums.time += time;
  }
  const each = (sums.time / pages.length).toFixed(2);
  row(`tables, ${name}`, pages.length, percent(sums.right, sums.cells), sums.tables, each, "–");
}

const every = Number(values.every ?? 1);
const jobs = [...pageJobs(), ...languageJobs(), ...tableJobs()].filter(({ group }) =>
  group.includes(values.only ?? ""),
);
const groups = Map.groupBy(jobs, ({ group }) => group);
const chosen = [...groups.values()].flatMap((group) => group.filter((_, at) => at % every === 0));
try {
  const pages = Map.groupBy(await drawn(chosen, folder), ({ group }) => group);
  await languageData(new Set(chosen.flatMap(({ language }) => language ?? [])), models);
  if (values.ppocr) await ppocrFiles(models);
  const engine = values.ppocr ? ["--ocr-engine", "ppocr"] : [];
  await withServer(["--ctx", "1024", "--models-dir", models, ...engine], async ({ url }) => {
    const texts = [...pages].filter(([, group]) => !group[0]?.rows);
    const tables = [...pages].filter(([, group]) => group[0]?.rows);
    if (texts.length > 0) {
      row("pages", "count", "wrong letters, svc", "wrong letters, tesseract", "s a page, svc", "s a page, tesseract");
      row(...LINE);
      for (const [name, group] of texts) await textGroup(url, name, group);
      console.log();
      row("", "pages", "svc", "tesseract, its threads", "tesseract, a page a core", "ratio to the faster");
      row(...LINE);
      await speed(url, texts[0]?.[1] ?? []);
      console.log();
    }
    if (tables.length > 0) {
      row("pages", "count", "right cells, svc", "tables found", "s a page, svc", "");
      row(...LINE);
      for (const [name, group] of tables) await tableGroup(url, name, group);
    }
  });
} finally {
  if (values.pages === undefined) rmSync(folder, { recursive: true });
}
process.exit(0);
