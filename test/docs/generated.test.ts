// The pages in docs/reference must be those generated from the code. `bun build.ts docs` rewrites them.

import { describe, expect, test } from "bun:test";
import { readdirSync } from "node:fs";
import { join } from "node:path";
import { generatedPages, REFERENCE } from "../../docs/generate/pages.ts";
import { environmentName } from "../../src/config/option.ts";
import { options } from "../../src/config/options.ts";
import { readConfig } from "../../src/config/read-config.ts";
import { temporaryFolder } from "../support/folders.ts";
import { runToEnd } from "../support/program.ts";

const root = join(import.meta.dir, "../..");
const pages = await generatedPages();

test("docs/reference contains exactly the generated pages", () => {
  expect(readdirSync(REFERENCE).toSorted()).toEqual([...pages.keys()].toSorted());
});

test.each([...pages])("%s is current (otherwise run `bun build.ts docs`)", async (name, content) => {
  // Without toBe, which would print a difference of a hundred pages.
  const isCurrent = (await Bun.file(join(REFERENCE, name)).text()) === content;
  expect(isCurrent).toBeTrue();
});

test("the HTTP API says which fields of answers may be null", () => {
  const rows = (pages.get("http-api.md") ?? "").split("\n");
  const typeOf = (field: string) => rows.find((row) => row.startsWith(`| \`${field}\``))?.split(" | ")[1];
  expect(typeOf("choices[].message.content")).toBe("string, null");
  expect(typeOf("choices[].message.reasoning_content")).toBe("string");
});

const groff = Bun.which("groff");
if (groff === null) console.log("svc.1 is not formatted: groff is not installed");
test.skipIf(groff === null)("the man page is formatted without warnings", async () => {
  const { out, err } = await runToEnd(["groff", "-man", "-Tutf8", "-ww", join(REFERENCE, "svc.1")]);
  expect(err).toBe("");
  expect(Bun.stripANSI(out).replaceAll(/.[\b]/g, "")).toContain('svc -s "prompt" [options]');
});

/** Returns the string literals of the sources that match the pattern. */
async function literals(pattern: RegExp): Promise<string[]> {
  const found = new Set<string>();
  for (const path of new Bun.Glob("src/**/*.ts").scanSync(root)) {
    const source = await Bun.file(join(root, path)).text();
    for (const [, name = ""] of source.matchAll(pattern)) found.add(name);
  }
  return [...found].toSorted();
}

test("every metric in the sources is on the page", async () => {
  const page = pages.get("metrics.md") ?? "";
  const names = await literals(/"(svc_[a-z_]+(?:_total|_seconds|_tokens|_bytes|_left|_perc|_s|_up|_info|_peak))"/g);
  expect(names.length).toBeGreaterThan(50);
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

test("every environment variable that the sources read is on the page", async () => {
  const page = pages.get("environment.md") ?? "";
  const names = [...(await literals(/environment\["([A-Z_]+)"\]/g)), ...options.map(environmentName)];
  expect(names.filter((name) => !page.includes(`\`${name}\``))).toEqual([]);
});

describe("config.example.toml", () => {
  const example = pages.get("config.example.toml") ?? "";
  const assigned = [...example.matchAll(/^# ([a-z0-9-]+) = (.*)$/gm)];

  test("has every option that a file may contain, once", () => {
    const names = assigned.map(([, name]) => name);
    const others = ["config", "prompt", "instructions"];
    expect(names).toEqual(options.map(({ name }) => name).filter((name) => !others.includes(name)));
  });

  test.each(assigned.map(([, name = "", value = ""]) => [name, value]))(
    "%s = %s is TOML that svc takes",
    async (name, value) => {
      const option = options.find((one) => one.name === name);
      const parsed = (Bun.TOML.parse(`value = ${value}`) as { value: unknown }).value;
      expect(option?.read(parsed)).toBeDefined();
      // Some values are also checked further, such as addresses.
      option?.toConfig(parsed, { HOME: "/home/svc" });
      if (option?.default !== undefined) expect(parsed).toEqual(option.default);
    },
  );

  test("has useful values, not the smallest ones", () => {
    const values = new Map(assigned.map(([, name = "", value = ""]) => [name, Number(value)]));
    const smallest = options.filter(
      ({ name, default: fallback, minimum = NaN }) => fallback === undefined && (values.get(name) ?? NaN) <= minimum,
    );
    expect(smallest.map(({ name }) => name)).toEqual([]);
    expect(values.get("ctx")).toBeGreaterThan(1000);
    expect(values.get("max-tokens")).toBeGreaterThan(100);
  });

  test("changes nothing unless it is edited", async () => {
    const folder = temporaryFolder();
    const path = join(folder, "config.toml");
    await Bun.write(path, example);
    const environment = { HOME: folder };
    expect(readConfig(new Map([["config", path]]), environment, folder)).toEqual(
      readConfig(new Map(), environment, folder),
    );
  });
});
