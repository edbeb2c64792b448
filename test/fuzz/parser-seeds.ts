// Valid input for every parser of clients' data.

import { wavFile } from "../models/media-files.ts";
import { animatedWebp, blue, flag, gif, jpegWithExif, pngWithExif, red, riff, riffChunk } from "../media/files.ts";
import type { Fields } from "./mutate.ts";
import { schema } from "./seed-parts.ts";

type Some<Item> = readonly [Item, ...Item[]];

export const grammars: Some<string> = [
  String.raw`root ::= object
value ::= object | array | string | number | ("true" | "false" | "null") ws
object ::= "{" ws (string ":" ws value ("," ws string ":" ws value)*)? "}" ws
array ::= "[" ws (value ("," ws value)*)? "]" ws
string ::= "\"" ([^"\\\x7F\x00-\x1F] | "\\" (["\\bfnrt] | "u" [0-9a-fA-F]{4}))* "\"" ws
number ::= ("-"? ([0-9] | [1-9] [0-9]{0,15})) ("." [0-9]+)? ([eE] [-+]? [1-9] [0-9]{0,15})? ws
ws ::= | " " | "\n" [ \t]{0,20}`,
  String.raw`# a comment
root ::= (expr "=" ws term "\n")+
expr ::= term ([-+*/] term)*
term ::= ident | num | "(" ws expr ")" ws
ident ::= [a-z] [a-z0-9_]* ws
num ::= [0-9]+ ws
ws ::= [ \t\n]*`,
  `root ::= "ja: " [ぁ-ゟ]{2,5} . | "\\u00e9" . {3} <[5]> !<[6]>`,
];
/** The words of GBNF. */
export const grammarWords = [
  "::=",
  "|",
  "(",
  ")",
  "[",
  "]",
  "[^",
  "{",
  "}",
  "{2,",
  ",3}",
  "{0,999}",
  "*",
  "+",
  "?",
  '"',
  "\\",
  "\\x4",
  "\\u",
  "\\U0010ffff",
  "-",
  ".",
  "<[",
  "]>",
  "!<",
  "#",
  "\n",
  "root",
  "ws",
  "é",
  "\ud83d\udc4b",
  "\u0000",
];

export const schemas: Some<Fields> = [
  schema,
  { type: "string", pattern: String.raw`^\d{3}-[a-z]+(x|y)?$`, maxLength: 20 },
  { type: "array", items: { type: "integer", minimum: -5, maximum: 300 }, minItems: 1, maxItems: 5, uniqueItems: true },
  {
    oneOf: [{ const: 1 }, { enum: ["a", null] }, { type: "object", patternProperties: { "^x": { type: "boolean" } } }],
  },
  {
    $defs: { node: { type: "object", properties: { next: { $ref: "#/$defs/node" }, at: { format: "date-time" } } } },
    allOf: [{ $ref: "#/$defs/node" }, { required: ["at"] }],
    if: { required: ["next"] },
    else: { maxProperties: 2 },
  },
];

export const kwargs: Some<Fields> = [
  { enable_thinking: true, reasoning_effort: "high", tools_in_user_message: false },
  {
    custom: { a: [1, 2.5, null, "x"], b: { c: { d: true } } },
    date_string: "1 Jan 2030",
    add_generation_prompt: false,
  },
  {
    messages: [{ role: "user", content: "other" }],
    tools: [],
    bos_token: "<s>",
    documents: [{ title: "t", text: "x" }],
  },
];

const picture = new Bun.Image(flag(60, 40));
const jpeg = await picture.jpeg().bytes();
const lossless = await picture.webp({ lossless: true }).bytes();
export const images: Some<Uint8Array> = [
  jpegWithExif(jpeg, 6),
  await picture.jpeg({ progressive: true }).bytes(),
  pngWithExif(await picture.png().bytes(), 5),
  await picture.png({ palette: true }).bytes(),
  await picture.webp().bytes(),
  lossless,
  animatedWebp(60, 40, [lossless, lossless]),
  gif(red, blue),
  flag(60, 40),
];

const format = Uint8Array.of(1, 0, 1, 0, 0x80, 0x3e, 0, 0, 0, 0x7d, 0, 0, 2, 0, 16, 0);
const frame = new Uint8Array(417);
frame.set([0xff, 0xfb, 0x90, 0xc4]);
export const sounds: Some<Uint8Array> = [
  riff("WAVE", riffChunk("fmt ", format), riffChunk("data", new Uint8Array(500))),
  wavFile(0.2, 44_100),
  Buffer.concat([frame, frame, frame]),
  Buffer.concat([Buffer.from("fLaC\x80\0\0\x22", "latin1"), new Uint8Array(34).fill(0x1f), frame]),
];
