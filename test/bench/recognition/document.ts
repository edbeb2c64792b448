// `bun test/bench/recognition/document.ts`: a scanned PDF of many pages at 150 dots per inch: its duration, and the
// peak memory of each process. Prints a Markdown row.
//   --pages N (50)

import { parseArgs } from "node:util";
import { dice } from "../../support/dice.ts";
import { drawn, scanned } from "../../support/pages.ts";
import { enginesOf, residentBytes } from "../../support/processes.ts";
import { withServer } from "../../support/server.ts";
import { paragraph } from "./content.ts";
import { letterErrors } from "./score.ts";

const { values } = parseArgs({ options: { pages: { type: "string" } } });
const count = Number(values.pages ?? 50);
const LINE_LETTERS = 75;
const LINES = 35;

/** Returns the first lines of a text. */
function linesOf(text: string): string[] {
  const lines = [""];
  for (const word of text.split(" ")) {
    const line = lines.at(-1) ?? "";
    if (line.length + word.length < LINE_LETTERS) lines[lines.length - 1] = `${line} ${word}`.trim();
    else lines.push(word);
  }
  return lines.slice(0, LINES);
}

const lines = linesOf(paragraph(dice(50), 40));
const file = scanned(await drawn({ lines, size: 14 }, 150), count);
const mb = (pid: number) => `${(residentBytes(pid, "peak") / 1e6).toFixed(0)} MB`;

await withServer(["--ctx", "1024"], async ({ url, pid }) => {
  const body = new FormData();
  body.append("file", new Blob([file]), "scan.pdf");
  const started = performance.now();
  const response = await fetch(`${url}/v1/vision/ocr`, { method: "POST", body, timeout: false });
  const seconds = (performance.now() - started) / 1000;
  if (!response.ok) throw new Error(await response.text());
  const { documents } = (await response.json()) as { documents: { text: string }[] };
  const said = Array.from({ length: count }, () => lines.join(" ")).join(" ");
  // Compared page by page, because the time for a comparison grows with the square of the length.
  const { errors, letters } = letterErrors(
    lines.join(" "),
    documents
      .map(({ text }) => text)
      .join(" ")
      .slice(0, said.length / count),
  );
  const cells = [
    `${count} pages`,
    `${seconds.toFixed(0)} s`,
    `readers ${enginesOf(pid, "recognition").map(mb).join(" and ")}`,
    `server ${mb(pid)}`,
  ];
  console.log(`| ${[...cells, `${errors} of ${letters} letters of the first page are wrong`].join(" | ")} |`);
});
process.exit(0);
