// Faults of the machine: memory runs out, the wall clock jumps, a process hangs.

import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { streamChat } from "../support/chat-client.ts";
import { PROGRAM, withServer, type TestServer } from "../support/server.ts";
import type { Row } from "./row.ts";

const FLAGS = ["--ctx", "16384", "--parallel", "8", "--threads", "1"];
const long = {
  messages: [{ role: "user", content: "Tell a long story about the sea." }],
  max_tokens: 1500,
  ignore_eos: true,
};
const short = { messages: [{ role: "user", content: "Hello" }], max_tokens: 8 };

/** Returns whether the next client gets a whole answer, or what it gets instead. */
async function nextAnswer({ url }: TestServer, headers: Record<string, string> = {}): Promise<string> {
  const { finishReason, done, error } = await streamChat(url, short, { headers });
  return done && finishReason ? "served" : `not served: ${error?.code}`;
}

/** Address space that an engine can still use when its limit is set. */
const ROOM_BYTES = 8 * 1024 * 1024;

/** Lets the engine run out of memory in the middle of work. */
async function outOfMemory(): Promise<Row> {
  let figure = "";
  let ok = false;
  await withServer(FLAGS, async (server) => {
    const streams = Array.from({ length: 8 }, () => streamChat(server.url, long));
    while ((await server.levels()).running < 8) await Bun.sleep(10);
    const pid = server.enginePid();
    const pages = Number((await Bun.file(`/proc/${pid}/statm`).text()).split(" ")[0]);
    const limit = pages * 4096 + ROOM_BYTES;
    Bun.spawnSync(["prlimit", "--pid", String(pid), `--as=${limit}:${limit}`]);
    const words = Array.from({ length: 9000 }, (_, n) => `word${n}`).join(" ");
    const more = Array.from({ length: 4 }, (_, n) =>
      streamChat(server.url, { ...long, messages: [{ role: "user", content: `${n} ${words}` }] }),
    );
    const ends = await Promise.all([...streams, ...more]);
    const improper = ends.filter(({ done, finishReason, error }) => !(done && finishReason) && !error?.code);
    const told = ends.filter(({ error }) => error).length;
    await server.untilReady();
    const next = await nextAnswer(server);
    await server.untilIdle(10_000);
    figure = `${ends.length - told} complete, ${told} with a typed error, ${improper.length} without an end; next client ${next}`;
    ok = improper.length === 0 && next === "served";
  });
  const attack = "the engine runs out of memory (RLIMIT_AS)";
  return {
    promise: "Every request ends with an answer or a typed error",
    attack,
    figure,
    limit: "0 without an end",
    ok,
  };
}

/** As installed by Debian's package libfaketime, on any processor. */
const FAKETIME = [...new Bun.Glob("*/faketime/libfaketimeMT.so.1").scanSync({ cwd: "/usr/lib", absolute: true })][0];

const DAY_SECONDS = 86_400;

/** Moves the wall clock a day forward and back during streams with a deadline. */
async function clockJumps(): Promise<Row> {
  const promise = "Clock changes do not affect timeouts";
  const attack = "the wall clock jumps forward and back by a day during streams";
  if (FAKETIME === undefined) {
    // A promise that was not tested does not count as kept.
    return { promise, attack, figure: "not tried: libfaketime is not installed", limit: "–", ok: false };
  }
  const folder = mkdtempSync(join(tmpdir(), "svc-clock-"));
  const file = join(folder, "now");
  const jump = (to: string) => writeFileSync(file, to);
  jump("+0");
  const time = {
    LD_PRELOAD: FAKETIME,
    FAKETIME_TIMESTAMP_FILE: file,
    FAKETIME_NO_CACHE: "1",
    FAKETIME_DONT_FAKE_MONOTONIC: "1",
  };
  // Engines would inherit the library without its settings and then wait forever, so LD_PRELOAD is removed and they
  // keep the true time.
  const own = join(folder, "own.ts");
  writeFileSync(own, "delete process.env.LD_PRELOAD;\n");
  const [bun = "", ...program] = PROGRAM;
  const variables = Object.entries(time).map(([name, value]) => `${name}=${value}`);
  const command = ["env", ...variables, bun, "--preload", own, ...program];
  const ends: string[] = [];
  try {
    await withServer(
      FLAGS,
      async (server) => {
        const headers = { "X-Svc-Deadline-Ms": "120000" };
        for (const [to, seconds] of [
          ["+1d", DAY_SECONDS],
          ["+0", 0],
        ] as const) {
          const streams = Array.from({ length: 4 }, () => streamChat(server.url, long, { headers }));
          while ((await server.levels()).running < 4) await Bun.sleep(10);
          jump(to);
          const ahead = (await server.health()).timestamp - Date.now() / 1000;
          if (Math.abs(ahead - seconds) > 60) throw new Error("the server's clock did not jump");
          for (const { done, finishReason, error } of await Promise.all(streams)) {
            ends.push(done && finishReason ? "served" : `cut: ${error?.code}`);
          }
          ends.push(await nextAnswer(server, headers));
        }
        await server.untilIdle(10_000);
      },
      command,
    );
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
  const served = ends.filter((end) => end === "served").length;
  return {
    promise,
    attack,
    figure: `${served} of ${ends.length} served`,
    limit: "all served",
    ok: served === ends.length,
  };
}

const STOPPED_MS = 5000;

/** Suspends the front process, as on a machine that swaps or sleeps. */
async function frontStopped(): Promise<Row> {
  let figure = "";
  let ok = false;
  await withServer(FLAGS, async (server) => {
    const streams = Array.from({ length: 4 }, () => streamChat(server.url, long));
    while ((await server.levels()).running < 4) await Bun.sleep(10);
    process.kill(server.pid, "SIGSTOP");
    const late = nextAnswer(server);
    await Bun.sleep(STOPPED_MS);
    process.kill(server.pid, "SIGCONT");
    const whole = (await Promise.all(streams)).filter(({ done, finishReason }) => done && finishReason).length;
    const next = await late;
    const { restarts } = (await server.health()).engine;
    figure = `${whole} of 4 streams complete, next client ${next}, ${restarts} restarts`;
    ok = whole === 4 && next === "served" && restarts === 0;
    await server.untilIdle(10_000);
  });
  const attack = `the server process is suspended for ${STOPPED_MS / 1000} s`;
  return { promise: "A pause of the machine loses nothing", attack, figure, limit: "nothing lost", ok };
}

export const faults = async (): Promise<Row[]> => [await outOfMemory(), await clockJumps(), await frontStopped()];
