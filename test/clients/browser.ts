// A web page in Chromium, which records its microphone with MediaRecorder, sends the recording with fetch, and plays what
// svc says, against a running svc (SVC_URL). Its microphone plays a file. `CHROMIUM` names the browser; default: chromium
// where it is installed. Without one it prints why it checks nothing.

import { check, equal, ok, skip, summary } from "./checks.ts";
import { chromium, findingsOf } from "./pages.ts";
import { JFK, JFK_WORDS, saidIn, SENTENCE, silence } from "./sounds.ts";

/** What the page finds out. */
interface Findings {
  readonly type: string;
  readonly status: number;
  readonly text: string;
  readonly events: readonly string[];
  readonly silence: { readonly status: number; readonly code: string };
  readonly spoken: { readonly type: string; readonly seconds: number };
}

const RECORDED_MS = 13_000;
const MICROPHONE = [
  "--use-fake-ui-for-media-stream",
  "--use-fake-device-for-media-stream",
  `--use-file-for-fake-audio-capture=${JFK}`,
];

/** Runs in the page. */
async function inPage(url: string, words: string, recordedMs: number): Promise<Findings> {
  const send = async (file: Blob, fields: Readonly<Record<string, string>> = {}) => {
    const form = new FormData();
    for (const [name, value] of Object.entries(fields)) form.append(name, value);
    form.append("file", file, "blob");
    return fetch(`${url}/v1/audio/transcriptions`, { method: "POST", body: form });
  };
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const recorder = new MediaRecorder(stream);
  const pieces: Blob[] = [];
  recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
  const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve));
  // In pieces, as pages that show what is heard do.
  recorder.start(1000);
  setTimeout(() => recorder.stop(), recordedMs);
  await stopped;
  const recording = new Blob(pieces, { type: recorder.mimeType });
  const heard = await send(recording);
  const { text = "" } = (await heard.json()) as { text?: string };
  document.body.textContent = text;
  const streamed = await (await send(recording, { stream: "true" })).text();
  const events = [...streamed.matchAll(/^event: (.*)$/gm)].map(([, name]) => `${name}`);
  const unheard = await send(await (await fetch("/silence.wav")).blob());
  const { error } = (await unheard.json()) as { error: { code: string } };
  const headers = { "Content-Type": "application/json" };
  const body = JSON.stringify({ input: words, voice: "alloy" });
  const said = await (await fetch(`${url}/v1/audio/speech`, { method: "POST", headers, body })).blob();
  const { duration } = await new AudioContext().decodeAudioData(await said.arrayBuffer());
  return {
    type: recorder.mimeType,
    status: heard.status,
    text,
    events,
    silence: { status: unheard.status, code: error.code },
    spoken: { type: said.type, seconds: duration },
  };
}

const browser = chromium();
if (browser) {
  console.log("Chromium");
  const script = `(${inPage})(${[process.env["SVC_URL"], SENTENCE, RECORDED_MS].map((one) => JSON.stringify(one))})`;
  const files = { "/silence.wav": () => new Response(silence()) };
  const found = await findingsOf<Findings>(browser, { script, files, flags: MICROPHONE }).catch(
    (error: Error) => error,
  );
  const get = () => {
    if (found instanceof Error) throw found;
    return found;
  };
  await check("what MediaRecorder records is text", async () => {
    const { type, status, text } = get();
    ok(type.startsWith("audio/webm"), type);
    equal(status, 200);
    ok(saidIn(text, JFK_WORDS), text);
  });
  await check("a page reads the stream of a transcription", async () => {
    const { events } = get();
    ok(events.includes("transcript.text.delta"), `${events}`);
    equal(events.at(-1), "transcript.text.done");
  });
  await check("a page reads why nothing was heard", async () => {
    equal(get().silence.status, 422);
    equal(get().silence.code, "no_speech");
  });
  await check("a page plays speech", async () => {
    const { type, seconds } = get().spoken;
    equal(type, "audio/mpeg");
    ok(seconds > 1 && seconds < 10, `${seconds} s`);
  });
} else skip("a page that records and plays", "no Chromium");
summary();
