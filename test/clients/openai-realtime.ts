// The TypeScript SDK's realtime clients, which support only wss: live transcription. SECURE_URL serves with TLS.

import { EventEmitter } from "node:events";
import { join } from "node:path";
import type { OpenAI as Client } from "openai";
import { check, equal, ok, same } from "./checks.ts";
import type { Sdk } from "./sdk.ts";
import { JFK_WORDS, jfkPcm, saidIn } from "./sounds.ts";

const TRANSCRIPTION = "conversation.item.input_audio_transcription";
const SILENCE = new Uint8Array(2 * 24_000);

/** The methods that both clients of both major versions have. */
interface Socket {
  readonly socket: { addEventListener: (name: string, listener: () => void) => void };
  on(name: string, listener: (event: never) => void): void;
  send(event: object): void;
  close(): void;
}

interface Event {
  readonly type: string;
  readonly item_id?: string;
  readonly transcript?: string;
  readonly delta?: string;
  readonly session?: { readonly type?: string; readonly input_audio_format?: string };
}

type Kind = new (props: object, client: Client) => Socket;

/** Registers the checks. `folder`: where the SDK is installed. */
export async function realtimeChecks({ OpenAI, version }: Sdk, folder: string): Promise<void> {
  const client = new OpenAI({ baseURL: `${process.env["SECURE_URL"]}/v1`, apiKey: "unused", maxRetries: 0 });
  const isNew = Number(version.split(".")[0]) > 4;
  const load = async (name: string) => {
    const path = isNew ? `openai/realtime/${name}` : `openai/beta/realtime/${name}`;
    return import(Bun.resolveSync(path, join(import.meta.dir, folder)));
  };
  const kinds: Readonly<Record<string, Kind>> = {
    OpenAIRealtimeWS: (await load("ws")).OpenAIRealtimeWS,
    OpenAIRealtimeWebSocket: (await load("websocket")).OpenAIRealtimeWebSocket,
  };
  const intent = isNew ? { intent: "transcription" } : { model: "whisper-1" };
  for (const [name, Realtime] of Object.entries(kinds)) {
    await check(`${name} opens a session with a client secret, which has its settings`, async () => {
      const page = new OpenAI({ baseURL: client.baseURL, apiKey: await secretOf(client, isNew), maxRetries: 0 });
      const realtime = new Realtime(intent, page);
      const created = await new Promise<Event>((done) =>
        realtime.on("session.created", done as (event: never) => void),
      );
      realtime.close();
      ok(JSON.stringify(created.session).includes('"language":"en"'), JSON.stringify(created.session));
    });

    await check(`${name} transcribes what is sent piece by piece`, async () => {
      const heard = await dictate(new Realtime(intent, client), isNew);
      const [created] = heard;
      equal(created?.type, "session.created");
      if (isNew) equal(created?.session?.type, "transcription");
      const whole = heard.findLast(({ type }) => type === `${TRANSCRIPTION}.completed`);
      const texts = heard
        .filter(({ type }) => type === `${TRANSCRIPTION}.completed`)
        .map(({ transcript }) => transcript);
      ok(saidIn(texts.join(" "), JFK_WORDS), texts.join(" "));
      const deltas = heard.filter(
        ({ type, item_id }) => type === `${TRANSCRIPTION}.delta` && item_id === whole?.item_id,
      );
      equal(deltas.map(({ delta }) => delta).join(""), whole?.transcript);
      const names = heard.map(({ type }) => type.split(".").slice(-1)[0]);
      same(names.slice(1, 4), ["updated", "speech_started", "speech_stopped"]);
    });

    await check(`${name} reports what belongs to conversations as its error, and goes on`, async () => {
      const realtime = new Realtime(intent, client);
      const { promise, resolve } = Promise.withResolvers<{ error?: { code?: string; event_id?: string } }>();
      realtime.on("error", resolve as (event: never) => void);
      realtime.socket.addEventListener("open", () => realtime.send({ type: "response.create", event_id: "mine" }));
      const { error } = await promise;
      equal(error?.code, "unsupported_parameter");
      equal(error?.event_id, "mine");
      const cleared = new Promise<void>((done) => realtime.on("input_audio_buffer.cleared", () => done()));
      realtime.send({ type: "input_audio_buffer.clear" });
      await cleared;
      realtime.close();
    });
  }
}

/** Returns a secret that a server would create for its page. */
async function secretOf(client: Client, isNew: boolean): Promise<string> {
  if (isNew) {
    const expires_after = { anchor: "created_at", seconds: 60 } as const;
    const { value, session } = await client.realtime.clientSecrets.create({ expires_after, session: NESTED });
    equal(session.type, "transcription");
    return value;
  }
  const { beta } = client as unknown as OlderClient;
  return (await beta.realtime.transcriptionSessions.create(FLAT)).client_secret.value;
}

interface OlderClient {
  readonly beta: {
    readonly realtime: {
      readonly transcriptionSessions: {
        create(body: object): Promise<{ readonly client_secret: { readonly value: string } }>;
      };
    };
  };
}

/** Sends the recording and a second of silence; resolves with all events when no more will follow. */
async function dictate(realtime: Socket, isNew: boolean): Promise<Event[]> {
  const events: Event[] = [];
  const news = new EventEmitter();
  realtime.on("event", (event: Event) => {
    events.push(event);
    news.emit("event");
  });
  const failed = new Promise<never>((_, reject) => realtime.on("error", reject as (event: never) => void));
  realtime.socket.addEventListener("open", () => {
    realtime.send(
      isNew ? { type: "session.update", session: NESTED } : { type: "transcription_session.update", session: FLAT },
    );
    const sound = Buffer.concat([jfkPcm(), SILENCE]);
    for (let at = 0; at < sound.length; at += 9600) {
      realtime.send({ type: "input_audio_buffer.append", audio: sound.subarray(at, at + 9600).toString("base64") });
    }
  });
  const count = (name: string) => events.filter(({ type }) => type.endsWith(name)).length;
  // Every utterance that began has its text, and the end of the recording was detected.
  const isOver = () =>
    events.some((event) => saidIn(event.transcript ?? "", "for your country")) &&
    count("speech_started") === count(".completed");
  while (!isOver()) await Promise.race([new Promise((resolve) => news.once("event", resolve)), failed]);
  realtime.close();
  return events;
}

const english = { model: "whisper-1", language: "en" } as const;
const turns = { type: "server_vad", threshold: 0.5, prefix_padding_ms: 300, silence_duration_ms: 500 } as const;
const NESTED = {
  type: "transcription",
  audio: { input: { format: { type: "audio/pcm", rate: 24_000 }, transcription: english, turn_detection: turns } },
} as const;
const FLAT = { input_audio_format: "pcm16", input_audio_transcription: english, turn_detection: turns };
