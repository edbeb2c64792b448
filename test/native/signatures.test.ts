// The C headers must match the tables that the bindings use; nothing else would detect a difference.

import { describe, expect, test } from "bun:test";
import { join } from "node:path";
import { ffi, symbolTables } from "./symbol-tables.ts";

const TYPES: Readonly<Record<string, string>> = { int32_t: "i32", uint64_t: "u64", double: "f64", void: "void" };

/** Returns the bun:ffi type for a C type; text is passed with a terminator, everything else with a length. */
function ffiType(type: string): string {
  if (type === "const char *") return "cstring";
  return type.endsWith("*") ? "buffer" : (TYPES[type] ?? `unknown C type ${type}`);
}

const declaration = (text: string) => text.trim().replace(/\w+$/, "").trim();

function functionsOf(header: string) {
  const found = [...header.matchAll(/^SVC_API ([\w* ]+?)(svc_\w+)\(([^)]*)\);/gm)];
  const declared = found.map(([, returns = "", name = "", list = ""]) => {
    const args = list.trim() === "void" ? [] : list.split(",").map((parameter) => ffiType(declaration(parameter)));
    return [name, { args, returns: ffiType(returns.trim()) }] as const;
  });
  return Object.fromEntries(declared);
}

/** Returns the names of each enum without their prefix, as TypeScript spells them; no value is written explicitly. */
function enumsOf(header: string) {
  const code = header.replace(/\/\/.*$/gm, "");
  const found = [...code.matchAll(/\benum (\w+) \{([^}]*)\}/g)].map(([, name = "", list = ""]) => {
    const names = list.split(",").map((entry) => entry.trim().replace(`${name.toUpperCase()}_`, ""));
    return [name, names.map((entry) => entry.toLowerCase().replaceAll("_", "-"))] as const;
  });
  return Object.fromEntries(found);
}

test("the tables are found", () => expect(Object.keys(symbolTables)).toContain("llama"));

describe.each(Object.entries(symbolTables))("the header of %s declares", (folder, tables) => {
  const header = Bun.file(join(ffi, folder, folder === "common" ? "library.h" : "shim.h"));

  test("the functions that symbols.ts has", async () => {
    const text = await header.text();
    const declared = functionsOf(text);
    expect(Object.keys(declared)).toHaveLength(text.match(/^SVC_API /gm)?.length ?? 0);
    expect(tables.symbols).toEqual(declared);
  });

  test("the same enums", async () => {
    const text = await header.text();
    expect(tables.enums).toEqual(enumsOf(text));
    expect(text).not.toMatch(/^ *SVC_\w+ = /m);
  });

  test("the same version", async () => {
    const version = /^#define SVC_ABI_VERSION (\d+)$/m.exec(await header.text())?.[1];
    expect(version && Number(version)).toBe(tables.ABI_VERSION);
  });
});
