import { expect, test } from "bun:test";
import { chatRequest, fenced, newMedia, readTools } from "../../src/page/logic/chat-request.ts";
import type { Turn } from "../../src/page/logic/conversation.ts";
import { defaultMediaLimits } from "../../src/media/limits.ts";
import { decodeChat } from "../../src/dialect/chat/decode.ts";
import { testConfig } from "../http/harness.ts";

const turn = (role: Turn["role"], text: string, more: Partial<Turn> = {}): Turn => {
  return { id: text, parent: null, role, text, createdAt: 0, ...more };
};
const LOCAL = { id: "m", reports: true };
const PIXEL = `data:image/png;base64,${Buffer.from("png").toString("base64")}`;
/** The attachments of a turn. */
const pictures = (from: number, to: number) => ({
  attachments: Array.from({ length: to - from }, (_, at) => {
    return { kind: "image", name: `${from + at}.png`, data: `${PIXEL}${from + at}` } as const;
  }),
});

test("a conversation becomes a valid request", () => {
  const call = { id: "call_1", name: "weather", arguments: "{}" };
  const request = chatRequest(
    [
      turn("user", "hi", { attachments: [{ kind: "image", name: "a.png", data: PIXEL }] }),
      turn("assistant", "", { toolCalls: [call] }),
      turn("tool", "mild", { toolCallId: "call_1" }),
      turn("assistant", "It is mild."),
      turn("user", "thanks"),
    ],
    { system: "Be brief.", temperature: 0.5, reasoning_effort: "low", tools: '{"name": "weather"}' },
    LOCAL,
  );
  expect(request.messages.map(({ role }) => role)).toEqual([
    "system",
    "user",
    "assistant",
    "tool",
    "assistant",
    "user",
  ]);
  expect(request).toMatchObject({ model: "m", stream: true, temperature: 0.5, reasoning_effort: "low" });
  expect(() => decodeChat(request, testConfig)).not.toThrow();
});

test("the files of the last message alone are new in a request", () => {
  const files = (...names: string[]) => ({
    attachments: names.map((name) => ({ kind: name.endsWith("txt") ? "text" : "image", name, data: PIXEL }) as const),
  });
  const path = [
    turn("user", "hi", files("a.png")),
    turn("assistant", "Hello."),
    turn("user", "more", files("b.txt", "b.png", "c.png")),
  ];
  const media = (turns: Turn[]) => [...newMedia(chatRequest(turns, { system: "Be brief." }, LOCAL), turns)];
  expect(media(path)).toEqual([
    ["messages.3.content.0", "b.png"],
    ["messages.3.content.1", "c.png"],
  ]);
  expect(media([...path, turn("assistant", "So?"), turn("user", "No files")])).toEqual([]);
  expect(media([...path, turn("assistant", "", { toolCalls: [] }), turn("tool", "1")])).toEqual([]);
});

test("of a long chat's media, the newest are sent, and in place of others their names", () => {
  const { maxCount } = defaultMediaLimits;
  const path = [
    turn("user", "Before", pictures(0, 9)),
    turn("assistant", "I see."),
    turn("user", "Then", pictures(9, maxCount)),
    turn("assistant", ""),
    turn("user", "Now", pictures(maxCount, maxCount + 1)),
  ];
  const request = chatRequest(path, {}, LOCAL);
  const [first, , second] = request.messages;
  expect(first?.content).toEqual([
    ...[...Array(8).keys()].map((at) => ({ type: "text" as const, text: `(${at}.png is no longer shown.)` })),
    { type: "image_url", image_url: { url: `${PIXEL}8` } },
    { type: "text", text: "Before" },
  ]);
  const urls = request.messages.flatMap(({ content }) =>
    Array.isArray(content) ? content.flatMap((part) => (part.type === "image_url" ? [part.image_url] : [])) : [],
  );
  expect(urls.length).toBe(maxCount - 7);
  expect([...newMedia(request, path).values()]).toEqual([...Array(maxCount - 8).keys()].map((at) => `${at + 9}.png`));
  expect(second?.content?.length).toBe(maxCount - 6);
  // The server refuses what is too much for one message, also when a tool was called meanwhile.
  const all = [turn("user", "Before", pictures(0, 1)), turn("user", "All", pictures(1, maxCount + 2))];
  for (const more of [[], [turn("assistant", "", { toolCalls: [] }), turn("tool", "1")]]) {
    const text = JSON.stringify(chatRequest([...all, ...more], {}, LOCAL));
    expect(text.match(/no longer shown/g)).toHaveLength(1);
  }
});

test("pictures beyond a request's limit leave its beginning as it was, for the prompt's cache", () => {
  const { maxCount } = defaultMediaLimits;
  const chats = Array.from({ length: 17 }, (_, more) =>
    Array.from({ length: maxCount + more }, (_each, at) => [
      turn("user", `Question ${at}`, pictures(at, at + 1)),
      turn("assistant", `Answer ${at}`),
    ]).flat(),
  );
  const requests = chats.map((path) => JSON.stringify(chatRequest(path, {}, LOCAL).messages).slice(0, -1));
  const changed = requests.flatMap((one, at) => (at > 0 && !one.startsWith(requests[at - 1] ?? "") ? [at] : []));
  expect(changed).toEqual([1, 9]);
});

test("of a chat's large files, the newest that fit into a request are sent", () => {
  const documents = (...names: string[]) => ({
    attachments: names.map((name) => {
      return { kind: "image", name, data: `data:application/pdf;base64,${"A".repeat(33_000_000)}` } as const;
    }),
  });
  const sent = (path: readonly Turn[]) =>
    chatRequest(path, {}, LOCAL).messages.flatMap(({ content }) =>
      Array.isArray(content) ? content.flatMap((part) => (part.type === "file" ? [part.file?.filename] : [])) : [],
    );
  const path = [turn("user", "Before", documents("a", "b")), turn("assistant", "I see.")];
  expect(sent([...path, turn("user", "Now", documents("c"))])).toEqual(["b", "c"]);
  expect(sent([...path, turn("user", "Now", documents("c", "d", "e"))])).toEqual(["c", "d", "e"]);
  expect(sent([...path, turn("user", "No more")])).toEqual(["a", "b"]);
});

test("unset parameters are left to the server, and a missing answer joins the messages around it", () => {
  const request = chatRequest(
    [turn("user", "hi"), turn("assistant", "", { error: "x" }), turn("user", "again")],
    {},
    { id: "m", reports: false },
  );
  expect(Object.keys(request).toSorted()).toEqual(["messages", "model", "stream"]);
  expect(request.messages).toEqual([{ role: "user", content: "hi\n\nagain" }]);
});

test("after calls of tools without results, a message is sent as if there were no calls", () => {
  const toolCalls = [{ id: "call_1", name: "weather", arguments: "{}" }];
  const messages = (...turns: Turn[]) => chatRequest(turns, {}, LOCAL).messages;
  expect(messages(turn("user", "hi"), turn("assistant", "Wait.", { toolCalls }), turn("user", "never mind"))).toEqual([
    { role: "user", content: "hi" },
    { role: "assistant", content: "Wait." },
    { role: "user", content: "never mind" },
  ]);
  expect(messages(turn("user", "hi"), turn("assistant", "", { toolCalls }), turn("user", "never mind"))).toEqual([
    { role: "user", content: "hi\n\nnever mind" },
  ]);
});

test("messages with attachments are joined, too", () => {
  const attachments = [{ kind: "image", name: "a.png", data: PIXEL }] as const;
  const request = chatRequest(
    [turn("user", "hi"), turn("assistant", ""), turn("user", "What is it?", { attachments }), turn("assistant", "A.")],
    {},
    LOCAL,
  );
  expect(request.messages).toEqual([
    {
      role: "user",
      content: [
        { type: "text", text: "hi" },
        { type: "image_url", image_url: { url: PIXEL } },
        { type: "text", text: "What is it?" },
      ],
    },
    { role: "assistant", content: "A." },
  ]);
});

test("text files are included in the message, and sound has its format", () => {
  const attachments = [
    { kind: "text", name: "a.md", data: "one\n```\ntwo\n" },
    { kind: "audio", name: "b.mp3", data: "data:audio/mpeg;base64,AAAA" },
  ] as const;
  const [message] = chatRequest([turn("user", "What is it?", { attachments })], {}, LOCAL).messages;
  expect(message?.content).toEqual([
    { type: "input_audio", input_audio: { data: "AAAA", format: "mp3" } },
    { type: "text", text: "a.md:\n\n````\none\n```\ntwo\n````\n\nWhat is it?" },
  ]);
});

test.each(["wav", "x-wav", "wave", "vnd.wave", "x-pn-wav"])("sound of type audio/%s is WAV", (type) => {
  const attachments = [{ kind: "audio", name: "a.wav", data: `data:audio/${type};base64,AAAA` }] as const;
  const [message] = chatRequest([turn("user", "", { attachments })], {}, LOCAL).messages;
  expect(message?.content).toEqual([{ type: "input_audio", input_audio: { data: "AAAA", format: "wav" } }]);
});

test("a PDF is sent as a document, which the API has read as text", () => {
  const data = `data:application/pdf;base64,${Buffer.from("%PDF-1.7").toString("base64")}`;
  const attachments = [{ kind: "image", name: "bill.pdf", data }] as const;
  const request = chatRequest([turn("user", "How much?", { attachments })], {}, LOCAL);
  expect(request.messages[0]?.content).toEqual([
    { type: "file", file: { file_data: data, filename: "bill.pdf" } },
    { type: "text", text: "How much?" },
  ]);
  const [message] = decodeChat(request, testConfig).request.messages;
  expect(message?.content).toContainEqual({
    type: "media",
    source: { kind: "image", url: data, detail: "auto", isDocument: true },
    param: expect.any(String) as string,
  });
});

test("tools may be one function or several, in either form", () => {
  const tool = { type: "function" as const, function: { name: "a" } };
  for (const text of ['{"name":"a"}', '[{"name":"a"}]', JSON.stringify(tool), JSON.stringify([tool])]) {
    expect(readTools(text)).toEqual([tool]);
  }
});

test("fences are longer than those within", () => expect(fenced("````", "md")).toBe("`````md\n````\n`````"));

test.each([
  ["42", "Each tool must be an object with a name."],
  ['[{"name": "a"}, {"description": "b"}]', "Each tool must be an object with a name."],
  ['{"type": "function", "function": null}', "Each tool must be an object with a name."],
  ["{", "The tools are not JSON."],
])("what is no tool is refused with a message: %s", (tools, message) => {
  expect(() => chatRequest([turn("user", "hi")], { tools }, LOCAL)).toThrow(message);
});
