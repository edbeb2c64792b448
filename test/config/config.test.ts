import { beforeAll, expect, test } from "bun:test";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { fieldsOf } from "../../src/config/config.ts";
import { boolean, choice, integer, json, list, number, path, seconds, string } from "../../src/config/option-types.ts";
import { isRow, type Option, type OptionValue, type Rows } from "../../src/config/option.ts";
import { options, table } from "../../src/config/options.ts";
import { changedOptions } from "../../src/config/changed-options.ts";
import { resolveConfig } from "../../src/config/resolve.ts";
import { sharedFolder } from "../support/folders.ts";

const help = "";
const rows = {
  plainCount: integer(0, 9, { default: 3, help }),
  share: number(0, 1, { help }),
  label: string({ help }),
  file: path({ otherwise: ({ HOME }) => `${HOME}/file`, help }),
  isOn: boolean({ name: "off", default: false, to: (off) => !off, help }),
  waitMs: seconds(0, 9, { name: "wait", default: 1, help }),
  part: {
    mode: choice(["fast", "safe", "8"], { default: "safe", to: (mode) => (mode === "8" ? "fast" : mode), help }),
    words: list({ placeholder: "WORD", help }),
    ports: list({ placeholder: "PORT", to: (given) => given.map(Number), help }),
    extra: json({ help }),
  },
};

/** The expected type of `rows`: the compiler rejects this test when a field gets another type. */
interface Written {
  readonly plainCount: number;
  readonly share?: number;
  readonly label?: string;
  readonly file: string;
  readonly isOn: boolean;
  readonly waitMs: number;
  readonly part: {
    readonly mode: "fast" | "safe";
    readonly words: readonly string[];
    readonly ports: number[];
    readonly extra?: Readonly<Record<string, unknown>>;
  };
}

const read = (values: Readonly<Record<string, OptionValue>>): Written => {
  const fields = fieldsOf(rows, (name) => values[name], { HOME: "/h" });
  const same = (written: Written): typeof fields => written;
  return same(fields);
};

test("a row becomes a field of Config under its name: required with a default, optional without", () => {
  expect(read({})).toStrictEqual({
    plainCount: 3,
    file: "/h/file",
    isOn: true,
    waitMs: 1000,
    part: { mode: "safe", words: [], ports: [] },
  });
});

test("a row defines how its value becomes the field's value", () => {
  const given = { "plain-count": 4, share: 0, label: "x", file: "/f", off: true, wait: 0.25, mode: "8", ports: ["1"] };
  expect(read({ ...given, words: ["a"], extra: { b: 1 } })).toStrictEqual({
    plainCount: 4,
    share: 0,
    label: "x",
    file: "/f",
    isOn: false,
    waitMs: 250,
    part: { mode: "fast", words: ["a"], ports: [1], extra: { b: 1 } },
  });
});

const KEY_FILE = join(sharedFolder(), "keys");
beforeAll(() => writeFileSync(KEY_FILE, "ada=a\n"));

/** Returns a value that the option accepts. */
function example({ name, type, choices, maximum }: Option): OptionValue {
  const particular: Readonly<Record<string, OptionValue>> = {
    "api-key-file": [KEY_FILE],
    "tls-cert": join(import.meta.dir, "../fixtures/tls/cert.pem"),
    "tls-key": join(import.meta.dir, "../fixtures/tls/key.pem"),
    "media-root": import.meta.dir,
    "piper-voices": import.meta.dir,
    "ocr-data": import.meta.dir,
    "data-dir": import.meta.dir,
    "models-dir": import.meta.dir,
    "cors-origin": ["*"],
    "gateway-port": ["1"],
    "tensor-split": ["3", "1"],
    releases: "https://releases.example",
    upstream: ["a=http://127.0.0.1"],
    "upstream-key": ["a=k"],
  };
  const any = { boolean: type === "boolean" && name !== "no-model", choice: choices?.[0] ?? "", json: {}, list: ["x"] };
  const others = { integer: maximum ?? 0, number: maximum ?? 0, path: import.meta.path, string: "x" };
  return particular[name] ?? { ...any, ...others }[type];
}

const fieldNames = (rows: Rows, at = ""): string[] =>
  Object.entries(rows).flatMap(([field, row]) => (isRow(row) ? at + field : fieldNames(row, `${at}${field}.`)));

test("every option is in Config, except those that modify others, and there is nothing else", () => {
  // This option contradicts --verbose.
  const given = options.filter(({ name }) => name !== "quiet");
  const config: object = resolveConfig([new Map(given.map((option) => [option.name, example(option)]))], {});
  const nested = Object.entries(table).flatMap(([field, row]) => (isRow(row) ? [] : field));
  const found = Object.entries(config).flatMap(([field, value]) =>
    nested.includes(field) ? Object.keys(value).map((inner) => `${field}.${inner}`) : field,
  );
  const inputs = ["configFile", "verbose", "quiet", "apiKeyFiles", "gateway.keys"];
  // The file's name in addition to its content.
  const besides = ["tls.certFile"];
  expect(found.filter((name) => !besides.includes(name)).toSorted()).toEqual(
    fieldNames(table)
      .filter((name) => !inputs.includes(name))
      .toSorted(),
  );
  expect(options).toHaveLength(fieldNames(table).length);
});

test("options with another value are named, also where a file has another content", () => {
  const resolve = (...given: string[]) =>
    resolveConfig(
      [new Map(options.filter(({ name }) => given.includes(name)).map((option) => [option.name, example(option)]))],
      {},
    );
  expect(changedOptions(resolve(), resolve())).toEqual([]);
  const changed = ["temperature", "tls-cert", "tls-key", "api-key", "upstream"];
  expect(
    changedOptions(resolve(), resolve("temperature", "tls-cert", "tls-key", "api-key-file", "upstream")).toSorted(),
  ).toEqual(changed.toSorted());
});
