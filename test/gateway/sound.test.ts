import { expect, test } from "bun:test";
import { chatServer, helloStream } from "./fixture-server.ts";
import { generate, remote } from "./remote.ts";

test("sound goes on as base64 with its format, which a data URL may state", async () => {
  const server = chatServer(helloStream);
  const sounds = [
    { data: "AAAA", format: "mp3" },
    { data: "AAAA" },
    { data: "data:audio/mpeg;base64,AAAA" },
    { data: "data:audio/x-wav;codecs=1;base64,AAAA" },
    { data: "data:audio/ogg;base64,AAAA", format: "opus" },
    { data: "data:;base64,AAAA" },
    { data: "data:audio/mp3; base64 ,AAAA" },
    { data: "data:audio/constructor;base64,AAAA" },
    { data: "data:audio/__proto__;base64,AAAA" },
  ];
  const content = sounds.map((sound, at) => {
    return { type: "media" as const, source: { kind: "audio" as const, ...sound }, param: `messages.0.content.${at}` };
  });
  await generate(await remote([server.url]), { messages: [{ role: "user", content }] });
  const formats = ["mp3", "wav", "mp3", "wav", "opus", "wav", "mp3", "constructor", "__proto__"];
  expect(server.asked.at(-1)?.body).toMatchObject({
    messages: [{ content: formats.map((format) => ({ input_audio: { data: "AAAA", format } })) }],
  });
});
