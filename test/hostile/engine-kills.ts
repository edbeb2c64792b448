// The engines for transcription, speech, images and pages, killed under load and in the middle of long work: every
// request must end, and nothing may be left behind.

import { randomNumbers } from "../support/dice.ts";
import { drawn, scanned } from "../support/pages.ts";
import { enginesOf, openFiles } from "../support/processes.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { draw, INPUT, oneOfEach, read, say, type Send } from "./engine-client.ts";
import { ENGINE_FLAGS, ENGINE_KINDS, filesLeft, withTemporaryFolder, type EngineKind } from "./engines.ts";
import { endOf, Load, type Attempt } from "./load.ts";
import type { Options, Row } from "./row.ts";

/** Clients of each engine. */
const CLIENTS = 4;
const PAUSE_MS = 1000;
/** The page at which the recognition engine is killed, and the number of pages. */
const [KILLED_AT, PAGES] = [20, 40];

function kill(server: TestServer, kind: EngineKind): void {
  for (const pid of enginesOf(server.pid, kind)) process.kill(pid, "SIGKILL");
}

/** Returns the requests to each engine, and which of them are streamed. */
async function requests() {
  const page = await drawn({ lines: ["A page", INPUT] }, 100);
  const next = await oneOfEach();
  const streams: Partial<Record<EngineKind, Send>> = {
    speech: say({ input: INPUT, stream_format: "sse" }),
    image: draw({ n: 2, stream: true, partial_images: 1 }),
  };
  return { next, streams, pages: (count: number) => read(scanned(page, count)) };
}
type Requests = Awaited<ReturnType<typeof requests>>;

/** The last event of a complete stream. */
const DONE: Partial<Record<EngineKind, string>> = { speech: "speech.audio.done", image: "image_generation.completed" };

/** Runs an equal share of the kills for each engine. */
async function underLoad({ kills = 40, seed = 1 }: Options, { next, streams }: Requests): Promise<Row[]> {
  const random = randomNumbers(seed);
  const attack = `${kills} kills of the engines for transcription, speech, images and pages, ${ENGINE_KINDS.length * CLIENTS} clients`;
  return withTemporaryFolder(async (folder) => {
    const rows: Row[] = [];
    await withServer([...ENGINE_FLAGS, "--max-queue", "64"], async (server) => {
      const { url } = server;
      const served = async () => {
        const answers: Response[] = [];
        for (const kind of ENGINE_KINDS) answers.push(await next[kind](url));
        for (const answer of answers) await answer.bytes();
        return answers.every(({ ok }) => ok);
      };
      await served();
      const filesBefore = openFiles(server.pid);
      const attempt = (kind: EngineKind): Attempt<EngineKind> => ({
        kind,
        run: async (signal, roll) => {
          const stream = roll() < 0.5 ? streams[kind] : undefined;
          // Sound that has begun can fail only by a broken connection.
          const canBreak = kind === "speech" && !stream;
          return endOf(await (stream ?? next[kind])(url, signal), { done: DONE[kind] ?? "", canBreak });
        },
      });
      const kindOf = (index: number) => ENGINE_KINDS[index % ENGINE_KINDS.length] ?? "speech";
      const load = new Load(ENGINE_KINDS.length * CLIENTS, (client) => attempt(kindOf(client)), random);
      for (let done = 0; done < kills; done++) {
        const kind = kindOf(done);
        await load.worked(kind);
        await Bun.sleep(random() * PAUSE_MS);
        kill(server, kind);
      }
      await load.stop();
      const isServed = await served();
      const { faults, ended } = load;
      for (const fault of faults.slice(0, 10)) console.error(`FAIL  ${fault}`);
      rows.push({
        promise: "A crash fails only the requests it was computing, with a typed error",
        attack,
        figure: `${ended} requests, ${faults.length} without an answer or a typed error, next client ${isServed ? "served" : "not served"}`,
        limit: "0, next client served",
        ok: faults.length === 0 && isServed,
      });
      const idleMs = await server.untilIdle(30_000).catch(() => undefined);
      const left = filesLeft(folder);
      const descriptors = openFiles(server.pid) - filesBefore;
      rows.push({
        promise: "Nothing leaks: files, descriptors, memory",
        attack,
        figure: `${left} files, ${idleMs === undefined ? "requests left" : "no request"}, ${descriptors} connections kept open (at most ${ENGINE_KINDS.length * CLIENTS})`,
        limit: "nothing left",
        ok: idleMs !== undefined && left === 0 && descriptors <= ENGINE_KINDS.length * CLIENTS,
      });
    });
    return rows;
  });
}

interface LongWork {
  readonly attack: string;
  readonly kind: EngineKind;
  /** Starts long work and calls `kill` in the middle of it. */
  readonly work: (kill: () => void) => Promise<Response>;
  readonly next: Send;
}

async function inTheMiddle(server: TestServer, { attack, kind, work, next }: LongWork): Promise<Row> {
  await (await next(server.url)).bytes();
  const end = await endOf(await work(() => kill(server, kind)), { done: DONE[kind] ?? "" });
  const after = await next(server.url);
  await after.bytes();
  const told = typeof end === "string" ? { whole: "complete all the same", ended: "a typed error" }[end] : end.fault;
  return {
    promise: "A crash fails only the requests it was computing, with a typed error",
    attack,
    figure: `${told}; next client ${after.ok ? "served" : `not served: ${after.status}`}`,
    limit: "a typed error, next client served",
    ok: end === "ended" && after.ok,
  };
}

async function longWork({ next, pages }: Requests): Promise<Row[]> {
  const rows: Row[] = [];
  await withServer(ENGINE_FLAGS, async (server) => {
    const { url } = server;
    const drawing: LongWork = {
      attack: "kill -9 of the image engine between two of 150 steps",
      kind: "image",
      async work(killed) {
        const { body, headers } = await draw({ stream: true, progress: true, steps: 150 })(url);
        let text = "";
        for await (const part of (body ?? new ReadableStream()).pipeThrough(new TextDecoderStream())) {
          if (!text.includes('"step":50,') && (text + part).includes('"step":50,')) killed();
          text += part;
        }
        return new Response(text, { headers });
      },
      next: next.image,
    };
    const reading: LongWork = {
      attack: `kill -9 of the recognition engine at about page ${KILLED_AT} of ${PAGES}`,
      kind: "recognition",
      async work(killed) {
        const started = performance.now();
        await (await pages(KILLED_AT)(url)).bytes();
        setTimeout(killed, performance.now() - started);
        return pages(PAGES)(url);
      },
      next: next.recognition,
    };
    for (const work of [drawing, reading]) rows.push(await inTheMiddle(server, work));
  });
  return rows;
}

export async function engineKills(options: Options): Promise<Row[]> {
  const all = await requests();
  return [...(await underLoad(options, all)), ...(await longWork(all))];
}
