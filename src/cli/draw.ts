// `svc draw PROMPT`: draws images into files, to standard output, or on terminals that show images.

import { extname } from "node:path";
import type { Config } from "../config/config.ts";
import { processEnvironment } from "../config/environment.ts";
import { newRequestId } from "../domain/ids.ts";
import { IMAGE_FORMATS } from "../domain/image.ts";
import type { FlagsOf } from "./commands.ts";
import { ExitError } from "./exit-codes.ts";
import { IMAGE_FILES } from "./file-formats.ts";
import { withApi, type Api } from "./in-process.ts";
import { inlineImage } from "./inline-image.ts";
import { wordsOrInput } from "./piped-input.ts";
import { commandProgress, type ProgressLine } from "./progress-line.ts";
import { writeOut } from "./write-out.ts";
import { expectFileName, formatOf, unknownFormat, writeResult } from "./write-result.ts";

/** What sets fields of the body, for errors. */
const OPTIONS = { prompt: "The description", n: "-n", size: "--size", seed: "--seed", steps: "--steps" };

const MEASURE = {
  amount: (done: number, total: number | undefined) => (total === undefined ? "" : `step ${done} of ${total}`),
  rate: (speed: number) => `${(1 / speed).toFixed(1)} s a step`,
};

interface Answer {
  readonly data: readonly { readonly b64_json: string; readonly seed: number }[];
  readonly size: string;
}

/**
 * Draws the description in `words`, or standard input (no words, or `-`). Returns the exit code. Throws as `withApi`
 * does.
 */
export async function draw(config: Config, words: readonly string[], flags: FlagsOf<"draw">): Promise<number> {
  const { output, size } = flags;
  const count = wholeNumber("-n", flags.count) ?? 1;
  const seed = wholeNumber("--seed", flags.seed);
  const steps = wholeNumber("--steps", flags.steps);
  const format = formatOf(flags, IMAGE_FILES) ?? "png";
  if (!IMAGE_FORMATS.some((one) => one === format)) throw unknownFormat(format, IMAGE_FORMATS);
  const show = process.stdout.isTTY && format === "png" ? inlineImage(processEnvironment()) : undefined;
  if (output === undefined && process.stdout.isTTY && !show) {
    throw new ExitError("usage", "svc draw writes an image: name a file with -o, or pipe it into a program.");
  }
  if (output === undefined && !show && count > 1) {
    throw new ExitError(
      "usage",
      "Several images need file names: name a file with -o; each image gets its number before the name extension.",
    );
  }
  if (output !== undefined) expectFileName(output);
  const prompt = await wordsOrInput(words);
  if (prompt === undefined)
    throw new ExitError("usage", "svc draw needs a description, as words or on standard input.");
  const body = {
    prompt,
    n: count,
    output_format: format,
    ...(size !== undefined && { size }),
    ...(seed !== undefined && { seed }),
    ...(steps !== undefined && { steps }),
  };
  return withApi(config, "images", async (api) => {
    const shown = commandProgress(config, MEASURE);
    const answer = await drawing(api, body, shown);
    for (const [at, image] of answer.data.entries()) {
      const bytes = Uint8Array.fromBase64(image.b64_json);
      const path = output === undefined ? undefined : pathOf(output, at, count);
      if (path !== undefined) {
        await writeResult(path, bytes);
        shown.note(`${path}: ${answer.size}, seed ${image.seed}`);
      }
      if (show) await writeOut(show(bytes));
      else if (path === undefined && !(await writeOut(bytes))) return;
    }
  });
}

async function drawing({ ask, requests }: Api, body: object, shown: ProgressLine): Promise<Answer> {
  const id = newRequestId();
  const state = () => {
    const { done = 0, of = 0, step = 0, steps = 0 } = requests.progressOf(id) ?? {};
    const name = of > 1 ? `image ${Math.min(done + 1, of)} of ${of}` : "drawing";
    return { name, done: done * steps + step, ...(steps > 0 && { total: of * steps }) };
  };
  const answer = async () => (await ask("/v1/images/generations", body, { id, options: OPTIONS })).json();
  return (await shown.during(state, answer)) as Answer;
}

/** Throws ExitError for anything but a whole number: NaN would become null in JSON, which counts as absent. */
function wholeNumber(flag: string, text: string | undefined): number | undefined {
  if (text === undefined) return undefined;
  if (/^\d{1,15}$/.test(text)) return Number(text);
  throw new ExitError("usage", `${flag} must be a whole number of at least 0, such as 4.`);
}

/** Returns the path of one image: `sky.png` for a single one, else `sky-1.png` and so on. */
function pathOf(output: string, at: number, count: number): string {
  if (count === 1) return output;
  const ending = extname(output);
  return `${output.slice(0, output.length - ending.length)}-${at + 1}${ending}`;
}
