import { expect, test } from "bun:test";
import { encodeOpenAi } from "../../src/gateway/openai/encode-request.ts";
import type { ServerKind } from "../../src/gateway/server-kind.ts";
import { plainRequest } from "../support/request.ts";
import { chatServer, helloStream } from "./fixture-server.ts";
import { generate, remote } from "./remote.ts";

/** Returns the sounds that a server receives for these. */
async function forwarded(sounds: readonly { data: string; format?: string }[]) {
  const server = chatServer(helloStream);
  const content = sounds.map((sound, at) => {
    return { type: "media" as const, source: { kind: "audio" as const, ...sound }, param: `messages.0.content.${at}` };
  });
  await generate(await remote([server.url]), { messages: [{ role: "user", content }] });
  const body = server.asked.at(-1)?.body as { messages: [{ content: { input_audio: unknown }[] }] } | undefined;
  return body?.messages[0].content.map(({ input_audio }) => input_audio);
}

test("sound goes on as base64 with its format, which a data URL may state", async () => {
  const sounds = [
    { data: "AAAA", format: "mp3" },
    { data: "data:audio/mpeg;base64,AAAA" },
    { data: "data:audio/x-wav;codecs=1;base64,AAAA" },
    { data: "data:audio/ogg;base64,AAAA", format: "opus" },
    { data: "data:audio/mp3; base64 ,AAAA" },
    { data: "data:audio/constructor;base64,AAAA" },
    { data: "data:audio/__proto__;base64,AAAA" },
  ];
  const formats = ["mp3", "mp3", "wav", "opus", "mp3", "constructor", "__proto__"];
  expect(await forwarded(sounds)).toEqual(formats.map((format) => ({ data: "AAAA", format })));
});

test("where nothing states its format, the sound itself does", async () => {
  const [wav, mp3, ogg] = ["RIFF\0\0\0\0WAVEfmt ", "ID3\x04\0\0\0\0\x7f\x7f", "OggS"].map((head) =>
    btoa(head + "\0".repeat(2000)),
  );
  const sounds = [wav, `data:;base64,${mp3}`, `data:application/octet-stream;base64,${ogg}`].map((data = "") => ({
    data,
  }));
  expect(await forwarded(sounds)).toEqual(
    [wav, mp3, ogg].map((data, at) => ({ data, format: ["wav", "mp3", "ogg"][at] })),
  );
  await expect(forwarded([{ data: "AAAA" }])).rejects.toThrow("messages.0.content.0' must be WAV, MP3");
});

test("the format of sound after a long tag is that of the sound", async () => {
  const tagged = (bytes: number, sound: string) =>
    btoa(
      `ID3\x04\0\0\0\0${String.fromCharCode(bytes >> 7, bytes & 127)}${"\0".repeat(bytes)}${sound}${"\0".repeat(500)}`,
    );
  const sounds = ["fLaC", "\xff\xf1", "\xff\xfb"].flatMap((sound) =>
    [3, 741, 742, 743, 8000, 8001, 8002].map((bytes) => ({ data: tagged(bytes, sound) })),
  );
  const formats = (await forwarded(sounds))?.map((sound) => (sound as { format: string }).format);
  expect(formats).toEqual(["flac", "aac", "mp3"].flatMap((format) => Array.from({ length: 7 }, () => format)));
});

test.each([
  ["llama.cpp", "wav"],
  ["svc", "flac"],
  ["vllm", "flac"],
  ["openai", "flac"],
] as const)("FLAC has a name that the server takes: %s", (kind: ServerKind, name) => {
  const data = btoa("fLaC" + "\0".repeat(2000));
  const content = [{ type: "media" as const, source: { kind: "audio" as const, data }, param: "messages.0.content.0" }];
  const { body } = encodeOpenAi(plainRequest("", { messages: [{ role: "user", content }] }), "far", kind);
  expect(body["messages"]).toMatchObject([{ content: [{ input_audio: { data, format: name } }] }]);
});
