import { describe, expect, test } from "bun:test";
import { commandNames, commandOf } from "../../src/cli/commands.ts";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { parseArguments } from "../../src/cli/arguments.ts";
import { commandHelp, COMMON_OPTIONS, fullHelpText, helpJson, helpText } from "../../src/cli/help.ts";
import { environmentName } from "../../src/config/option.ts";
import { options } from "../../src/config/options.ts";

describe.each(options.map((option) => [option.name, option] as const))("--%s", (name, option) => {
  test("is in --help-all with every spelling and its environment variable", () => {
    const spellings = (option.aliases ?? []).map((alias) => (alias.length === 1 ? `-${alias}, ` : `--${alias}`));
    const named = option.type === "boolean" && option.default ? `--[no-]${name}` : `--${name}`;
    for (const spelling of [named, ...spellings]) {
      expect(fullHelpText()).toContain(spelling);
    }
    expect(fullHelpText()).toContain(`{${environmentName(option)}}`);
  });
});

test("no two options share a spelling", () => {
  const spellings = options.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(new Set(spellings).size).toBe(spellings.length);
});

const widest = (text: string) => Math.max(...text.split("\n").map(({ length }) => length));

test("helps with options say that the texts in brackets are defaults, and that options can be set elsewhere", () => {
  for (const text of [helpText(), fullHelpText(), commandHelp("serve")]) {
    expect(text).toContain("[9999]");
    expect(text).toContain("Defaults are in brackets");
    expect(text).toMatch(/environment\s+variable/);
  }
});

test("the full help states precedence and exit codes", () => {
  expect(fullHelpText()).toContain("command line > environment > config file > default");
  for (const { code, meaning } of Object.values(exitCodes)) expect(fullHelpText()).toContain(`  ${code}  ${meaning}`);
});

test("the short help has the common options, every command, and how to see the rest", () => {
  const text = helpText();
  const listed = options.filter(({ name }) => new RegExp(`--${name}[ ,\\n]`).test(text)).map(({ name }) => name);
  expect(listed).toEqual(options.map(({ name }) => name).filter((name) => COMMON_OPTIONS.includes(name)));
  expect(listed).toHaveLength(15);
  for (const name of commandNames) expect(text).toContain(`svc ${name} `);
  expect(text).toContain("--help-all");
});

test("the help of serve has the common options that apply to it, and not the other commands", () => {
  const text = commandHelp("serve");
  expect(COMMON_OPTIONS.filter((name) => !new RegExp(`--${name}[ ,\\n]`).test(text))).toEqual(["prompt"]);
  expect(text).not.toContain("svc pull MODEL");
  expect(text).toContain("--help-all");
});

test.each([80, 100, 120])("the help fits a terminal of %i columns", (width) => {
  const texts = [helpText(width), fullHelpText(width), ...commandNames.map((name) => commandHelp(name, width))];
  expect(Math.max(...texts.map(widest))).toBeLessThanOrEqual(width);
});

test.each([40, 60])("the description of an option is below it on a terminal of %i columns", (width) => {
  const lines = fullHelpText(width).split("\n");
  const below = lines.filter((line) => line.startsWith(" ".repeat(8)));
  expect(below.length).toBeGreaterThan(options.length);
  expect(Math.max(...below.map(widest))).toBeLessThanOrEqual(width);
  expect(lines.filter((line) => line.startsWith(" ".repeat(20)))).toEqual([]);
});

test.each(commandNames)("svc %s --help has all of the command's own options", (name) => {
  const text = commandHelp(name);
  expect(text).toStartWith(`Usage: svc ${name} `);
  for (const flag of commandOf(name).flags ?? []) expect(text).toContain(`--${flag.name}`);
});

test.each(commandNames)("svc %s --help lists the options of svc that it reads", (name) => {
  const { reads = {} } = commandOf(name);
  const text = commandHelp(name);
  for (const option of Object.keys(reads)) {
    expect(options.map((one) => one.name)).toContain(option);
    expect(text).toMatch(new RegExp(`--${option}[ ,]`));
  }
});

test.each(["models", "upstreams", "wait", "launch"] as const)(
  "svc %s --help says how the server is reached",
  (name) => {
    for (const option of ["host", "port", "api-key", "api-key-file", "tls-cert", "tls-key"])
      expect(commandHelp(name)).toMatch(new RegExp(`--${option}[ ,]`));
  },
);

test("only the helps of commands that read most options say that the options of svc apply", () => {
  const saying = commandNames.filter((name) => commandHelp(name).includes("The options of svc apply as well"));
  expect(saying).toEqual(["transcribe", "ocr", "say", "draw", "launch", "self-test"]);
});

test.each(commandNames)("the examples in svc %s --help are valid command lines", (name) => {
  for (const example of commandOf(name).examples ?? []) {
    const words = example.replace(/ <.*/, "").match(/"[^"]*"|\S+/g) ?? [];
    expect(commandHelp(name)).toContain(`\n  ${example}\n`);
    expect(parseArguments(words.slice(1))).toMatchObject({ action: name });
  }
});

test.each([
  ["transcribe", ".txt, .srt, .vtt or .json"],
  ["ocr", ".txt, .md, .csv or .json"],
  ["say", ".mp3, .opus, .aac, .flac, .wav, .pcm, .caf or .ogg"],
  ["draw", ".png, .jpeg, .webp or .jpg"],
] as const)("svc %s --help has every name extension that sets a format", (name, extensions) => {
  expect(commandHelp(name).replaceAll(/\s+/g, " ")).toContain(`sets the format: ${extensions};`);
});

test("the machine-readable help has everything that the option table has", () => {
  const document = JSON.parse(helpJson());
  expect(document).toMatchObject({ name: "svc", version: expect.stringMatching(/^\d+\.\d+\.\d+/) });
  expect(document.options).toHaveLength(options.length);
  expect(document.options.find(({ name }: { name: string }) => name === "port")).toEqual({
    name: "port",
    aliases: ["p"],
    group: "Server",
    type: "integer",
    minimum: 0,
    maximum: 65_535,
    default: 9999,
    help: "Port to listen on; 0: any free port.",
    environment: "SVC_PORT",
    config_key: "port",
    negatable: false,
    repeatable: false,
  });
  expect(document.exit_codes).toContainEqual({ code: 2, meaning: "wrong option or value" });
});
