// `bun test/bench/long-recording.ts`: memory while a recording of hours is transcribed, of the process that serves and of the one
// that computes, for each tenth of it. Prints Markdown rows. Needs `bun build.ts media`.
//   --hours N (2)   --threads N (2)

import { appendFileSync, mkdtempSync, readFileSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { parseArgs } from "node:util";
import { dice } from "../support/dice.ts";
import { childrenOf, residentBytes } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { completeWav, wavHead } from "../../src/audio/encode/wav.ts";
import { sentence } from "./sentences.ts";
import { RATE, say } from "./spoken.ts";

const { values } = parseArgs({ options: { hours: { type: "string" }, threads: { type: "string" } } });
const seconds = 3600 * Number(values.hours ?? 2);
const PASSAGE = 12;
const TENTHS = 10;
const folder = mkdtempSync(join(tmpdir(), "svc-long-"));

/** A WAV file of so many seconds: sentences of the own voice, over and over. */
async function recording(server: TestServer): Promise<string> {
  const roll = dice(19);
  const passage: Int16Array[] = [];
  for (let at = 0; at < PASSAGE; at++) passage.push(await say(server, sentence(roll)), new Int16Array(RATE / 2));
  const sound = Buffer.concat(passage.map(({ buffer }) => new Uint8Array(buffer as ArrayBuffer)));
  const file = join(folder, "long.wav");
  const bytes = 2 * RATE * seconds;
  const head = wavHead(RATE);
  completeWav(head, RATE * seconds);
  writeFileSync(file, head);
  for (let left = bytes; left > 0; left -= sound.length)
    appendFileSync(file, sound.subarray(0, Math.min(left, sound.length)));
  return file;
}

function levels({ pid }: TestServer): { readonly serving: number; readonly computing: number } {
  const engine = childrenOf(pid).find((child) =>
    readFileSync(`/proc/${child}/cmdline`, "utf8").includes("\0transcription"),
  );
  return { serving: residentBytes(pid), computing: engine === undefined ? 0 : residentBytes(engine) };
}

const row = (...cells: (string | number)[]) => console.log(`| ${cells.join(" | ")} |`);
const mb = (bytes: number) => (bytes / 1e6).toFixed(0);

try {
  await withServer(["--threads", values.threads ?? "2", "--ctx", "1024"], async (server) => {
    const file = await recording(server);
    const body = new FormData();
    body.append("file", Bun.file(file), "long.wav");
    for (const [name, value] of Object.entries({ language: "en", response_format: "text" })) body.append(name, value);
    const started = performance.now();
    const samples: { readonly serving: number; readonly computing: number }[] = [];
    const sampler = setInterval(() => samples.push(levels(server)), 500);
    const response = await fetch(`${server.url}/v1/audio/transcriptions`, { method: "POST", body, timeout: false });
    const text = await response.text();
    clearInterval(sampler);
    if (!response.ok) throw new Error(`${response.status} ${text}`);
    const took = (performance.now() - started) / 1000;
    console.log(`${seconds} s of sound in ${took.toFixed(0)} s, ${text.split(/\s+/).length} words`);
    row("tenth of the time", "MB, server", "MB, engine");
    row("---", "---", "---");
    const each = Math.ceil(samples.length / TENTHS);
    for (let tenth = 0; tenth < TENTHS; tenth++) {
      const part = samples.slice(tenth * each, (tenth + 1) * each);
      const most = (of: "serving" | "computing") => mb(Math.max(...part.map((levels) => levels[of])));
      row(tenth + 1, most("serving"), most("computing"));
    }
  });
} finally {
  rmSync(folder, { recursive: true });
}
process.exit(0);
