// A web page in Chromium that records its microphone with MediaRecorder, sends the recording with fetch, dictates
// over a WebSocket, and plays svc's speech, with a running svc (SVC_URL). The microphone plays a file. `CHROMIUM`
// names the browser; by default chromium if it is installed. Without one it prints why it checks nothing.
// `SCREENSHOT` names a PNG file for a picture of the page at the end.

import { check, equal, ok, summary } from "./checks.ts";
import { chromium, findingsOf, withoutChromium } from "./pages.ts";
import { JFK, JFK_WORDS, saidIn, SENTENCE, silence } from "./sounds.ts";

/** The findings of the page. */
interface Findings {
  readonly type: string;
  readonly status: number;
  readonly text: string;
  readonly events: readonly string[];
  /** The text that was transcribed during the dictation. */
  readonly dictated: string;
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
  const json = { "Content-Type": "application/json" };
  const show = (label: string, text: string) => {
    const line = document.createElement("p");
    line.textContent = `${label}: ${text}`;
    document.body.append(line);
  };
  /** The page creates the secret itself here; usually its server does. */
  const dictate = async (microphone: MediaStream) => {
    const settings = { session: { type: "transcription", audio: { input: { transcription: { language: "en" } } } } };
    const made = await fetch(`${url}/v1/realtime/client_secrets`, {
      method: "POST",
      headers: json,
      body: JSON.stringify(settings),
    });
    const { value } = (await made.json()) as { value: string };
    const protocols = ["realtime", `openai-insecure-api-key.${value}`];
    const socket = new WebSocket(`${url.replace("http", "ws")}/v1/realtime`, protocols);
    await new Promise((resolve) => socket.addEventListener("open", resolve));
    const texts: string[] = [];
    let news = () => {};
    socket.addEventListener("message", ({ data }) => {
      const { type, transcript } = JSON.parse(`${data}`) as { type: string; transcript?: string };
      if (type.endsWith(".completed")) texts.push(`${transcript}`);
      if (type.endsWith(".completed") || type === "error") news();
    });
    const context = new AudioContext({ sampleRate: 24_000 });
    const node = context.createScriptProcessor(4096, 1, 1);
    node.addEventListener("audioprocess", ({ inputBuffer }) => {
      const samples = Int16Array.from(inputBuffer.getChannelData(0), (sample) => sample * 32_767);
      const audio = btoa(String.fromCharCode(...new Uint8Array(samples.buffer)));
      socket.send(JSON.stringify({ type: "input_audio_buffer.append", audio }));
    });
    context.createMediaStreamSource(microphone).connect(node).connect(context.destination);
    return async () => {
      node.disconnect();
      const ended = new Promise<void>((resolve) => (news = resolve));
      socket.send(JSON.stringify({ type: "input_audio_buffer.commit" }));
      await ended;
      socket.close();
      return texts.join(" ");
    };
  };
  const stream = await navigator.mediaDevices.getUserMedia({ audio: true });
  const endDictation = await dictate(stream);
  const recorder = new MediaRecorder(stream);
  const pieces: Blob[] = [];
  recorder.addEventListener("dataavailable", ({ data }) => pieces.push(data));
  const stopped = new Promise((resolve) => recorder.addEventListener("stop", resolve));
  // In pieces, as pages with a live transcript do.
  recorder.start(1000);
  setTimeout(() => recorder.stop(), recordedMs);
  await stopped;
  const dictated = await endDictation();
  show("Dictated", dictated);
  const recording = new Blob(pieces, { type: recorder.mimeType });
  const heard = await send(recording);
  const { text = "" } = (await heard.json()) as { text?: string };
  show("Recorded", text);
  const streamed = await (await send(recording, { stream: "true" })).text();
  const events = [...streamed.matchAll(/^event: (.*)$/gm)].map(([, name]) => `${name}`);
  const unheard = await send(await (await fetch("/silence.wav")).blob());
  const { error } = (await unheard.json()) as { error: { code: string } };
  const body = JSON.stringify({ input: words, voice: "alloy" });
  const said = await (await fetch(`${url}/v1/audio/speech`, { method: "POST", headers: json, body })).blob();
  const { duration } = await new AudioContext().decodeAudioData(await said.arrayBuffer());
  show("Played", `${said.type}, ${duration.toFixed(1)} s`);
  return {
    type: recorder.mimeType,
    status: heard.status,
    text,
    events,
    dictated,
    silence: { status: unheard.status, code: error.code },
    spoken: { type: said.type, seconds: duration },
  };
}

const browser = chromium();
if (browser) {
  console.log("Chromium");
  const script = `(${inPage})(${[process.env["SVC_URL"], SENTENCE, RECORDED_MS].map((one) => JSON.stringify(one))})`;
  const screenshot = process.env["SCREENSHOT"];
  const files = { "/silence.wav": () => new Response(silence()) };
  const found = await findingsOf<Findings>(browser, {
    script,
    files,
    flags: MICROPHONE,
    ...(screenshot !== undefined && { screenshot }),
  }).catch((error: Error) => error);
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
  await check("a page dictates with a client secret", async () => {
    ok(saidIn(get().dictated, JFK_WORDS), get().dictated);
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
} else await withoutChromium("a page that records and plays");
summary();
