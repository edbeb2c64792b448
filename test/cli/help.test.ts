import { describe, expect, test } from "bun:test";
import { exitCodes } from "../../src/cli/exit-codes.ts";
import { helpJson, helpText } from "../../src/cli/help.ts";
import { environmentName } from "../../src/config/option.ts";
import { options } from "../../src/config/options.ts";

describe.each(options.map((option) => [option.name, option] as const))("--%s", (name, option) => {
  test("is in the help, with every spelling and its environment variable", () => {
    const spellings = (option.aliases ?? []).map((alias) => (alias.length === 1 ? `-${alias}, ` : `--${alias}`));
    const named = option.type === "boolean" && option.default ? `--[no-]${name}` : `--${name}`;
    for (const spelling of [named, ...spellings]) {
      expect(helpText()).toContain(spelling);
    }
    expect(helpText()).toContain(`{${environmentName(option)}}`);
  });
});

test("no two options share a spelling", () => {
  const spellings = options.flatMap(({ name, aliases = [] }) => [name, ...aliases]);
  expect(new Set(spellings).size).toBe(spellings.length);
});

test("the help fits a terminal of 120 columns and states precedence and exit codes", () => {
  expect(
    Math.max(
      ...helpText()
        .split("\n")
        .map(({ length }) => length),
    ),
  ).toBeLessThanOrEqual(120);
  expect(helpText()).toContain("command line > environment > config file > default");
  for (const { code, meaning } of Object.values(exitCodes)) expect(helpText()).toContain(`  ${code}  ${meaning}`);
});

test("the help for programs says all that the table says", () => {
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
    help: "Port to listen on; 0 takes a free one.",
    environment: "SVC_PORT",
    config_key: "port",
    negatable: false,
    repeatable: false,
  });
  expect(document.exit_codes).toContainEqual({ code: 2, meaning: "wrong option or value" });
});
