// The real program with the real Kokoro, transcribed by Whisper. Needs `bun build.ts bench`, which downloads the
// model. `speech/kokoro.test.ts` tests what goes into the model and what comes out with a small stand-in.

import { describe, expect, setDefaultTimeout, test } from "bun:test";
import { existsSync, readFileSync } from "node:fs";
import { join } from "node:path";
import { nativeFiles } from "../../ffi/runtime/native-files.ts";
import { findProgram } from "../../src/engine/process/program.ts";
import { KOKORO } from "../../src/store/models/kokoro.ts";
import { isBuilt, wordsOf } from "../native/whisper-harness.ts";
import { post } from "../support/post.ts";
import { withServer } from "../support/server.ts";

setDefaultTimeout(240_000);

const folder = join(import.meta.dir, "../../vendor/.build/kokoro/current");
const isWhole = isBuilt && existsSync(folder) && nativeFiles("").embeddedVoice !== undefined;
const hasReader = findProgram("espeak-ng") !== undefined;
if (!isWhole) console.log("Kokoro is not heard: it is not built (`bun build.ts bench`)");
else if (!hasReader) console.log("Kokoro's British voices are not heard: there is no espeak-ng here");

const FLAGS = ["--ctx", "1024", "--parallel", "2", "--threads", "1", "--kokoro", folder];

describe.skipIf(!isWhole)("kokoro", () => {
  test("speech is transcribed as the text that was spoken, with Kokoro's voice names and those of OpenAI", async () => {
    await withServer(FLAGS, async ({ url }) => {
      const input = "The children are playing in the garden.";
      const said: [string, string][] = [
        ["af_bella", input],
        ["onyx", input],
        ...(hasReader ? ([["bf_emma", input]] satisfies [string, string][]) : []),
      ];
      for (const [voice, text] of said) {
        const spoken = await post(`${url}/v1/audio/speech`, { input: text, voice, response_format: "wav" });
        expect(spoken.status).toBe(200);
        const body = new FormData();
        body.append("file", await spoken.blob(), "sound.wav");
        body.append("language", "en");
        const heard = await fetch(`${url}/v1/audio/transcriptions`, { method: "POST", body });
        expect([voice, wordsOf(((await heard.json()) as { text: string }).text)]).toEqual([voice, wordsOf(text)]);
      }
      const { voices } = (await (await fetch(`${url}/v1/audio/voices?locale=en-US`)).json()) as {
        voices: { id: string; model: string; realtime: boolean; aliases: string[] }[];
      };
      expect(voices.find(({ id }) => id === "am_onyx")).toMatchObject({
        model: "kokoro",
        realtime: false,
        aliases: ["onyx"],
      });
      // A request without a voice gets the fast one.
      expect(voices.find(({ id }) => id === "heart")).toMatchObject({ model: "hibari", realtime: true });
    });
  });

  test.skipIf(!hasReader)("Spanish speech is told from English, transcribed, and translated", async () => {
    await withServer(FLAGS, async ({ url }) => {
      const input = "Mi hermana compró ayer un armario viejo.";
      const spoken = await post(`${url}/v1/audio/speech`, { input, voice: "ef_dora", response_format: "wav" });
      expect(spoken.status).toBe(200);
      const sound = await spoken.blob();
      const heard = async (path: string) => {
        const body = new FormData();
        body.append("file", sound, "sound.wav");
        body.append("response_format", "verbose_json");
        const response = await fetch(`${url}/v1/audio/${path}`, { method: "POST", body });
        return (await response.json()) as { text: string; language: string; task: string };
      };
      const transcript = await heard("transcriptions");
      expect(transcript).toMatchObject({ language: "spanish", task: "transcribe" });
      expect(wordsOf(transcript.text)).toEqual(expect.arrayContaining(["hermana", "ayer", "armario", "viejo"]));
      const translation = await heard("translations");
      expect(translation).toMatchObject({ task: "translate" });
      expect(wordsOf(translation.text)).toEqual(expect.arrayContaining(["my", "sister", "bought"]));
    });
  });

  test("its voices are those whose checksums svc pull kokoro knows", () => {
    for (const { path, sha256, bytes } of KOKORO.repos[0].files.filter((file) => file.path.startsWith("voices/"))) {
      const content = readFileSync(join(folder, path));
      const found = new Bun.CryptoHasher("sha256").update(content).digest("hex");
      expect([path, content.length, found]).toEqual([path, bytes, sha256]);
    }
  });
});
