// The pages of the benchmark, in the form that `draw.py` takes.

import { join } from "node:path";
import { dice, pick, type Dice } from "../../support/dice.ts";
import { paragraph, tableContent } from "./content.ts";
import { LANGUAGES } from "./languages.ts";

const FOLDER = "/usr/share/fonts/truetype";

/** From Debian's packages `fonts-dejavu-core`, `fonts-liberation` and `fonts-noto-core`. */
export const FONTS = [
  { plain: "dejavu/DejaVuSans.ttf", bold: "dejavu/DejaVuSans-Bold.ttf" },
  { plain: "dejavu/DejaVuSerif.ttf", bold: "dejavu/DejaVuSerif-Bold.ttf" },
  { plain: "dejavu/DejaVuSansMono.ttf", bold: "dejavu/DejaVuSansMono-Bold.ttf" },
  { plain: "liberation/LiberationSans-Regular.ttf", bold: "liberation/LiberationSans-Bold.ttf" },
  { plain: "liberation/LiberationSerif-Regular.ttf", bold: "liberation/LiberationSerif-Bold.ttf" },
  { plain: "liberation/LiberationMono-Regular.ttf", bold: "liberation/LiberationMono-Bold.ttf" },
  { plain: "noto/NotoSans-Regular.ttf", bold: "noto/NotoSans-Bold.ttf" },
  { plain: "noto/NotoSerif-Regular.ttf", bold: "noto/NotoSerif-Bold.ttf" },
].map(({ plain, bold }) => ({ plain: join(FOLDER, plain), bold: join(FOLDER, bold) }));

const SIZES = [10, 12, 14, 18, 24];

export interface Job {
  /** Pages of a group are reported together. */
  readonly group: string;
  readonly name: string;
  /** The description to draw, without the file. */
  readonly drawing: Readonly<Record<string, unknown>>;
  /** The cells of the page's table. */
  readonly rows?: readonly (readonly string[])[];
  /** Tesseract's name of the language; absent for English. */
  readonly language?: string;
}

type Drawn = Readonly<Record<string, unknown>>;
type Change = (at: number) => Drawn;

/** Cycles through a list. */
const inTurn =
  <One>(first: One, ...others: readonly One[]): ((at: number) => One) =>
  (at) =>
    [first, ...others][at % (1 + others.length)] ?? first;
const skews = inTurn(1, -2, 4, -7, 12);
const turns = inTurn(1, 2, 3);

/** Groups of pages: 8 fonts in 5 sizes each. */
const PAGES: Readonly<Record<string, Change>> = {
  clean: () => ({}),
  skewed: (at) => ({ skew: skews(at) }),
  noise: inTurn<Drawn>({ grain: 25 }, { specks: 0.02 }, { blur: 1 }, { grain: 12, blur: 0.7 }),
  inverted: (at) => (at % 2 === 0 ? { inverted: true } : { band: "Terms and conditions apply to all orders" }),
  "two columns": () => ({ columns: 2 }),
};

/** Smaller groups, in addition to the 200 pages. */
const MORE: Readonly<Record<string, Change>> = {
  turned: (at) => ({ turns: turns(at) }),
  shadow: (at) => ({ shadow: inTurn(0.4, 0.6)(at), paper: 240 }),
  photographed: (at) => ({ corners: corners(at), ground: inTurn(60, 110)(at), paper: 235 }),
};

export function pageJobs(): Job[] {
  const all = (groups: Readonly<Record<string, Change>>, sizes: readonly number[]) =>
    Object.entries(groups).flatMap(([group, change]) =>
      FONTS.flatMap((font, one) =>
        sizes.map((size, other) => pageJob(group, change, font.plain, size, one * sizes.length + other)),
      ),
    );
  return [...all(PAGES, SIZES), ...all(MORE, [14, 20])];
}

function pageJob(group: string, change: Change, font: string, size: number, at: number): Job {
  const seed = 1000 + at;
  const roll = dice(seed);
  const paragraphs = Array.from({ length: size > 16 ? 3 : 5 }, () => paragraph(roll, 3));
  const [width, height] = [900, 1000];
  return {
    group,
    name: `${group}-${at}`,
    drawing: { kind: "text", seed, font, size, width, height, paragraphs, ...change(at) },
  };
}

/** Returns ten pages for each other language. */
export const languageJobs = (): Job[] =>
  Object.entries(LANGUAGES).flatMap(([language, { fonts, face, sentences }]) =>
    fonts.flatMap((font, one) =>
      SIZES.map((size, other): Job => {
        const at = one * SIZES.length + other;
        const paragraphs = sentences.map((_, first) =>
          [0, 1, 2].map((next) => sentences[(first + next + at) % sentences.length]),
        );
        const place = { kind: "text", seed: at, width: 900, height: 1000 };
        const drawing = { ...place, font, face, size, paragraphs: paragraphs.map((said) => said.join(" ")) };
        return { group: `language ${language}`, name: `${language}-${at}`, drawing, language };
      }),
    ),
  );

/** Returns the corners of a page of 900 × 1000 pixels in a photograph. */
function corners(at: number): number[][] {
  const roll = dice(77 + at);
  const off = (x: number, y: number) => [x + roll(70), y + roll(70)];
  return [off(70, 70), off(960, 70), off(960, 1080), off(70, 1080)];
}

const STYLES = {
  ruled: [
    { style: "grid" },
    { style: "grid", thick: 2, headFill: 225 },
    { style: "grid", ruleInk: 170 },
    { style: "inner" },
    { style: "grid", merged: true },
    { style: "grid", headFill: 40, headInk: 255 },
    { style: "grid", wrap: 5 },
    { style: "grid", skew: 2 },
  ],
  unruled: [
    { style: "none" },
    { style: "none", zebra: 238 },
    { style: "lines" },
    { style: "none", skew: -1.5 },
    { style: "none", wide: true },
    { style: "none", wide: true, wrap: 5 },
    { style: "none", gaps: true },
  ],
} as const;

/** Returns 30 tables with rules and 30 without, each between two paragraphs. */
export const tableJobs = (): Job[] =>
  (["ruled", "unruled"] as const).flatMap((group) => Array.from({ length: 30 }, (_, at) => tableJob(group, at)));

function tableJob(group: "ruled" | "unruled", at: number): Job {
  const seed = 5000 + at;
  const roll = dice(seed);
  const font = FONTS[at % FONTS.length] ?? FONTS[0];
  const size = inTurn(13, 16, 20)(at);
  const style: Readonly<Record<string, unknown>> = STYLES[group][at % STYLES[group].length] ?? {};
  const { rows, align } = tableContent(roll, 3 + roll(12), 3 + roll(3));
  const merged = style["merged"] === true ? mergedHeader(rows) : [];
  if (style["gaps"] === true) leaveOut(roll, rows);
  const pad = style["wide"] === true ? [20, 10] : [pick(roll, [8, 10, 14]), pick(roll, [3, 5, 8])];
  const wrap = typeof style["wrap"] === "number" ? style["wrap"] * size : 0;
  const place = { kind: "table", width: 1300, height: 1400, font: font?.plain, bold: font?.bold, size, seed, pad };
  const text = { rows, align, merged, before: paragraph(roll, 3), after: paragraph(roll, 3) };
  const drawing = { ...style, ...place, ...text, wrap };
  return { group, name: `${group}-${at}`, drawing, rows };
}

/** Empties about every sixth cell, except in the header and the first column. */
function leaveOut(roll: Dice, rows: string[][]): void {
  for (const row of rows.slice(1)) for (let at = 1; at < row.length; at++) if (roll(6) === 0) row[at] = "";
}

/** Adds a header row whose first cell spans two rows and whose second cell spans the other columns. */
function mergedHeader(rows: string[][]): { row: number; column: number; rowSpan: number; columnSpan: number }[] {
  const [names = []] = rows;
  const columns = names.length;
  rows.unshift([names[0] ?? "", "Overview", ...Array.from({ length: columns - 2 }, () => "")]);
  names[0] = "";
  return [
    { row: 0, column: 0, rowSpan: 2, columnSpan: 1 },
    { row: 0, column: 1, rowSpan: 1, columnSpan: columns - 1 },
  ];
}
