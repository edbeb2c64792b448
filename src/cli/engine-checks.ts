// What `svc self-test` tries of the models that svc contains besides the chat model.

import type { NativeFiles } from "../../ffi/runtime/native-files.ts";
import { availableMemory } from "../engine/process/machine.ts";
import { whyMissing } from "./components.ts";
import { ALL_MINILM, WHISPER_BASE } from "./engines.ts";
import { DEMO_MODEL } from "./image-engines.ts";
import { ask, send } from "./self-test-request.ts";
import { HIBARI } from "./speech-engines.ts";

/** Part of a self-test. */
export interface Check {
  /** The request, as clients know it. */
  readonly name: string;
  /** Returns why this cannot be tried here, or undefined. */
  readonly skipped?: () => string | undefined;
  /** Returns what was found, in a few words. Throws an Error when the check fails. */
  readonly work: () => Promise<string>;
}

const SENTENCE = "Good morning.";
const HEARD = /\bgood morning\b/i;
/** A picture of the text `It reads text`: PNG, two colours, in base64. */
const PICTURE = [
  "iVBORw0KGgoAAAANSUhEUgAAAQsAAABCAQAAAABoDs7vAAABuElEQVR42u3UO47bMBAAUAoqiFRzBGZvkcpsc4wcIV1cLEIFKtQlR/BRIiOFSx9h",
  "R3Chcul1kTHCcDL0Ukj0WSyc2mokDh/IETmk4tceVDdyIy+T/QJRxb+RCAsER0FaIt68OgrZUei/yXlGQm70V5DjjFBu7AbSzYjPjeYKspXlWLuW",
  "+QuzhrQyyOFC9UAUMH10yoZ3LtwBIXOlfRmK9l7ZgRhuP6xWhoKlACfJtYJDx+UxKPc3F//+3oGP5hjhQCmXnef6NEqXVmvWQg5CQiLfvKv7MbHE",
  "jZAfPBBy2/2YuCPXQnZCYiJGwgvkHE3D0HEmuJkQr0oOiaBLRCnr7YSgkKdEpId9FEJTksb/eiGQiJRiWCIroxmoHIiZk/A5kVhkIpU+IxQT4eol",
  "gpcOyYVbJ1+S0ElPf5p/d8/EC5HXQ1/PyFlIzfBIz2SzmxF3yiQkotnutxNCtsdotgOpo9vgQLztfiYCDQZoo+4T+VWRM56bh3ym8VFcUIBv3+C6",
  "6FNJfWoVWymZ7/lmQMNoozJeF74oOzl5HrCIso+Vy/eLbFyluZK5NGmDsgFkSBO00N6u5hu5kvwBNEfR9OG7NrEAAAAASUVORK5CYII=",
].join("");
const PICTURE_TEXT = "It reads text";
/** An image of one colour has fewer bytes. */
const LEAST_IMAGE_BYTES = 1000;
const PNG_SIGNATURE = [0x89, 0x50, 0x4e, 0x47];
/**
 * Bytes that each engine takes while it computes, rounded up. Those before it are still loaded. A check that has less is
 * left out: the kernel would kill a process, perhaps another program's.
 */
const NEEDED = { embeddings: 100e6, speech: 300e6, transcription: 300e6, recognition: 150e6, drawing: 250e6 };

/**
 * Returns one check for each model that the server at `url` has from this program. They are made in this order.
 * `freeBytes`: returns the memory that is free at the moment.
 */
export function engineChecks(url: string, native: NativeFiles, freeBytes = () => availableMemory()): readonly Check[] {
  const { embeddedEmbeddings, embeddedVoice, embeddedTranscription, embeddedTessdata, imageLibrary } = native;
  let recording: Blob | undefined;
  const unless = (path: string | undefined, needed: number) => () => {
    if (path === undefined) return "not in this build";
    const reason = whyMissing(path);
    return reason ?? (freeBytes() < needed ? `less than ${needed / 1e6} MB of memory are free` : undefined);
  };
  return [
    {
      name: "POST /v1/embeddings",
      skipped: unless(embeddedEmbeddings, NEEDED.embeddings),
      async work() {
        const response = await ask(url, "/v1/embeddings", { model: ALL_MINILM.id, input: SENTENCE });
        const { data } = (await response.json()) as { data: { embedding: (number | null)[] }[] };
        const vector = data[0]?.embedding ?? [];
        // JSON has null for what is no number.
        const isUsable = vector.length === ALL_MINILM.embedding && !vector.includes(null) && vector.some(Boolean);
        if (!isUsable) throw new Error("the vector is incomplete");
        return `${vector.length} dimensions`;
      },
    },
    {
      name: "POST /v1/audio/speech",
      skipped: unless(embeddedVoice, NEEDED.speech),
      async work() {
        const response = await ask(url, "/v1/audio/speech", {
          model: HIBARI,
          input: SENTENCE,
          response_format: "wav",
        });
        recording = await response.blob();
        return `${recording.size} bytes`;
      },
    },
    {
      name: "POST /v1/audio/transcriptions",
      skipped: () =>
        unless(embeddedTranscription, NEEDED.transcription)() ?? (recording ? undefined : "nothing was spoken"),
      async work() {
        const form = new FormData();
        form.set("model", WHISPER_BASE.id);
        form.set("language", "en");
        form.set("response_format", "text");
        form.set("file", recording ?? new Blob(), "speech.wav");
        const heard = (await (await send(url, "/v1/audio/transcriptions", { body: form })).text()).trim();
        if (!HEARD.test(heard)) throw new Error("the transcript is not what was spoken");
        return "what was spoken";
      },
    },
    {
      name: "POST /v1/vision/ocr",
      skipped: unless(embeddedTessdata, NEEDED.recognition),
      async work() {
        const body = { data: PICTURE, languages: ["en"], response_format: "text" };
        const read = (await (await ask(url, "/v1/vision/ocr", body)).text()).trim();
        if (read !== PICTURE_TEXT) throw new Error("the text is not that of the image");
        return "the text of an image";
      },
    },
    {
      name: "POST /v1/images/generations",
      skipped: unless(imageLibrary, NEEDED.drawing),
      async work() {
        const body = { model: DEMO_MODEL, prompt: "a red circle", seed: 1, output_format: "png" };
        const response = await ask(url, "/v1/images/generations", body);
        const { data } = (await response.json()) as { data: { b64_json: string }[] };
        const image = Uint8Array.fromBase64(data[0]?.b64_json ?? "");
        const isPng = PNG_SIGNATURE.every((byte, at) => image[at] === byte);
        if (!isPng || image.length < LEAST_IMAGE_BYTES) throw new Error("the image is blank");
        return `${image.length} bytes`;
      },
    },
  ];
}
