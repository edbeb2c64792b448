// The real program with the voices of the host's eSpeak, where it has one.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { findProgram } from "../../src/engine/process/program.ts";
import { readWav } from "../../src/audio/decode/wav.ts";
import { withServer, type TestServer } from "../support/server.ts";
import { isBuilt } from "../native/whisper-harness.ts";

setDefaultTimeout(60_000);

const isThere = isBuilt && findProgram("espeak-ng") !== undefined;
if (!isThere) console.log("voices of the host are not tested: there is no espeak-ng here, or no native library");

const FLAGS = ["--ctx", "1024", "--parallel", "2", "--threads", "1"];

interface Listed {
  readonly id: string;
  readonly locale: string;
  readonly gender: string;
  readonly quality: string;
  readonly model: string;
  readonly aliases: readonly string[];
}

const voices = async ({ url }: TestServer, locale = ""): Promise<readonly Listed[]> =>
  ((await (await fetch(`${url}/v1/audio/voices?locale=${locale}`)).json()) as { voices: Listed[] }).voices;

const say = (server: TestServer, body: object, signal?: AbortSignal) =>
  server.post("/v1/audio/speech", body, { signal });

describe.skipIf(!isThere)("espeak-ng", () => {
  test("has voices, sorted and by locale; none has the names of the neural voice", async () => {
    await withServer(FLAGS, async (server) => {
      const all = await voices(server);
      expect(all.length).toBeGreaterThan(50);
      expect(all.map(({ locale }) => locale)).toEqual(all.map(({ locale }) => locale).toSorted());
      const german = { id: "espeak-ng:de", name: "German", locale: "de", gender: "male", quality: "compact" };
      const aliases: string[] = [];
      const listed: object = { ...german, realtime: true, model: "espeak-ng", aliases };
      expect(await voices(server, "de")).toEqual([listed as Listed]);
      const { data } = (await (await fetch(`${server.url}/v1/models`)).json()) as { data: { id: string }[] };
      expect(data.map(({ id }) => id)).toContain("espeak-ng");
    });
  });

  test("speaks a language that only it has, as samples and coded, at every speed", async () => {
    await withServer(FLAGS, async (server) => {
      const input = "Guten Morgen. Die Katze saß auf der Mauer. <b>$(reboot)</b> [[h@l@U]] -v";
      for (const response_format of ["wav", "opus"]) {
        const response = await say(server, { input, locale: "de-AT", response_format });
        expect(response.status).toBe(200);
        expect((await response.bytes()).length).toBeGreaterThan(5000);
      }
      const lengths = [];
      for (const speed of [0.25, 1, 4]) {
        const response = await say(server, { input, voice: "espeak-ng:de", response_format: "wav", speed });
        const { sampleRate, samples } = readWav(await response.bytes());
        expect(sampleRate).toBe(24_000);
        lengths.push(samples.length / sampleRate);
      }
      const [slow = 0, usual = 0, fast = 0] = lengths;
      expect([slow / usual > 3, usual / fast > 2.5]).toEqual([true, true]);
      const metrics = await server.metrics();
      expect(metrics).toMatch(/svc_engine_up\{[^}]*model(_name)?="espeak-ng"[^}]*\} 1/);
    });
  });

  test("sends a long text while it is said, and ends with the client, or at its deadline", async () => {
    await withServer(FLAGS, async (server) => {
      const long = {
        input: "Das ist noch ein Satz von vielen. ".repeat(900),
        voice: "espeak-ng:de",
        response_format: "pcm",
      };
      const leave = new AbortController();
      const reader = (await say(server, long, leave.signal)).body?.getReader();
      expect((await reader?.read())?.value?.length).toBeGreaterThan(1000);
      leave.abort();
      await server.untilIdle(10_000);
      const late = await server.post("/v1/audio/speech", long, { headers: { "x-svc-deadline-ms": "1" } });
      expect(late.status).toBe(504);
      const response = await say(server, { input: "Hallo.", voice: "espeak-ng:xx" });
      expect(response.status).toBe(404);
    });
  });

  test("is not there where it is not wanted", async () => {
    await withServer([...FLAGS, "--no-host-voices"], async (server) => {
      expect((await voices(server)).filter(({ model }) => model === "espeak-ng")).toEqual([]);
      expect((await say(server, { input: "Hallo.", locale: "de" })).status).toBe(400);
    });
  });
});
